import type { Message } from "../../client/message";

/** What stands on the button: "2 memories · 1 tool". */
export function whyWords({ memories, tools, reasoning }: Message): string {
  const parts = [count(memories.length, "memory", "memories"), count(tools.length, "tool", "tools"), reasoning ? "thoughts" : ""];
  return parts.filter(Boolean).join(" · ");
}

export function count(number: number, one: string, many: string): string {
  return number === 0 ? "" : `${number} ${number === 1 ? one : many}`;
}

/** A length of time as people say it: "38 ms", "1.2 s", "2 min". */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1_000).toFixed(1)} s`;
  return `${Math.round(ms / 60_000)} min`;
}
