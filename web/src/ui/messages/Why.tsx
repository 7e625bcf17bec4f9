import type { Message, ToolUse } from "../../client/message";
import type { MemoryTrace, Value } from "../../protocol/messages";

/** What stands on the button, shortest first: "2 memories, 1 tool". */
export function whyWords({ memories, tools, reasoning }: Message): string {
  const parts = [count(memories.length, "memory", "memories"), count(tools.length, "tool", "tools"), reasoning ? "thoughts" : ""];
  return parts.filter(Boolean).join(" · ");
}

/** The memories, tools and thoughts behind an answer. */
export function Why({ message }: { message: Message }) {
  const { memories, tools, reasoning } = message;
  if (!memories.length && !tools.length && !reasoning) {
    return <p className="soft">No memory and no tool was used. The answer comes from this conversation and the model alone.</p>;
  }
  return (
    <>
      {memories.length > 0 && (
        <section>
          <h3>Remembered</h3>
          <ul>
            {memories.map((trace) => (
              <Memory key={trace.id} trace={trace} />
            ))}
          </ul>
        </section>
      )}
      {tools.length > 0 && (
        <section>
          <h3>Tools</h3>
          <ul>
            {tools.map((tool) => (
              <Tool key={tool.id} tool={tool} />
            ))}
          </ul>
        </section>
      )}
      {reasoning && (
        <section>
          <h3>Thoughts</h3>
          <p className="thoughts">{reasoning.trim()}</p>
        </section>
      )}
    </>
  );
}

function Memory({ trace }: { trace: MemoryTrace }) {
  const percent = trace.confidence === undefined ? undefined : Math.round(trace.confidence * 100);
  return (
    <li className="memory">
      <p>{trace.content}</p>
      <p className="small">
        {trace.memoryType && <span>{trace.memoryType}</span>}
        {trace.action !== "retrieved" && <span>{trace.action}</span>}
        {percent !== undefined && (
          <span className="match">
            <meter min={0} max={100} value={percent} aria-label="How well it matches" />
            {percent}% match
          </span>
        )}
      </p>
    </li>
  );
}

function Tool({ tool }: { tool: ToolUse }) {
  const state = tool.outcome === undefined ? "running" : tool.outcome.success ? "done" : "failed";
  return (
    <li className="tool">
      <p>
        <strong>{tool.name}</strong> <span className={`state ${state}`}>{state}</span>
      </p>
      {Object.keys(tool.parameters).length > 0 && <pre tabIndex={0}>{write(tool.parameters)}</pre>}
      {tool.outcome?.result !== undefined && (
        <pre tabIndex={0} className="result">
          {write(tool.outcome.result)}
          {tool.outcome.truncated ? "\n…" : ""}
        </pre>
      )}
    </li>
  );
}

function write(value: Value | { readonly [key: string]: Value }): string {
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

function count(number: number, one: string, many: string): string {
  return number === 0 ? "" : `${number} ${number === 1 ? one : many}`;
}
