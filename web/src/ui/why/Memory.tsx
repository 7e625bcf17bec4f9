import type { Value } from "../../protocol/messages";
import { goTo } from "../route";
import type { MemoryShown } from "./behind";

/** A memory that an answer used, and how well it fitted. */
export function Memory({ memory: { memoryId, content, type, action, score, parts } }: { memory: MemoryShown }) {
  const percent = score === undefined ? undefined : Math.round(score * 100);
  const made = [part("meaning", parts["meaning"]), part("words", parts["words"]), standing(parts["standing"])].filter(Boolean);
  return (
    <li className="memory">
      <p>
        <a href={`#memory/${memoryId}`} onClick={(event) => (event.preventDefault(), goTo(`memory/${memoryId}`))}>
          {content}
        </a>
      </p>
      <p className="small">
        {type && <span>{type}</span>}
        {action !== "retrieved" && <span>{action}</span>}
        {percent !== undefined && (
          <span className="match">
            <meter min={0} max={100} value={percent} aria-label="How well it fits" />
            {percent}% match
          </span>
        )}
        {made.length > 0 && <span>{made.join(", ")}</span>}
      </p>
    </li>
  );
}

function part(name: string, value: Value | undefined): string {
  return typeof value === "number" ? `${name} ${Math.round(value * 100)}%` : "";
}

function standing(value: Value | undefined): string {
  return typeof value === "number" ? `standing × ${value.toFixed(2).replace(/0$/, "")}` : "";
}
