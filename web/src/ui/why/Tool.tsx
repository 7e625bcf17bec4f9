import type { Value } from "../../protocol/messages";
import type { ToolShown } from "./behind";

/** A tool that an answer used: what it was asked, and what it said. */
export function Tool({ tool: { name, state, parameters, result, truncated } }: { tool: ToolShown }) {
  return (
    <li className="tool">
      <p>
        <strong>{name}</strong> <span className={`state ${state}`}>{state}</span>
      </p>
      {Object.keys(parameters).length > 0 && (
        <pre tabIndex={0} aria-label="Asked">
          {write(parameters)}
        </pre>
      )}
      {result !== undefined && (
        <pre tabIndex={0} className="result" aria-label="Answered">
          {write(result)}
          {truncated ? "\n…" : ""}
        </pre>
      )}
    </li>
  );
}

function write(value: Value | { readonly [key: string]: Value }): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}
