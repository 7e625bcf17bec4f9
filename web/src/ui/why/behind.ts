import type { Message } from "../../client/message";
import type { Trace, TracedMemory, TracedTool } from "../../client/trace";
import type { MemoryTrace, Value } from "../../protocol/messages";

export interface ToolShown {
  id: string;
  name: string;
  state: "running" | "done" | "failed";
  parameters: { readonly [key: string]: Value };
  result: Value | undefined;
  truncated: boolean;
}

export interface MemoryShown {
  id: string;
  memoryId: string;
  content: string;
  type: string | undefined;
  action: MemoryTrace["action"];
  /** How well it fits, from 0 to 1. */
  score: number | undefined;
  parts: { readonly [key: string]: Value };
}

/** What to show: what the server tells, and until then what came with the answer. */
export function behind(message: Message, trace: Trace | undefined): { memories: MemoryShown[]; tools: ToolShown[]; reasoning: string } {
  return {
    memories: trace ? trace.memories.map(tracedMemory) : message.memories.map(seenMemory),
    tools: trace
      ? trace.toolUses.map(tracedTool)
      : message.tools.map(({ id, name, parameters, outcome }) => {
          const state = outcome === undefined ? "running" : outcome.success ? "done" : "failed";
          return { id, name, parameters, state, result: outcome?.result, truncated: outcome?.truncated === true };
        }),
    reasoning: (trace ? trace.reasoning.map((step) => step.content).join("") : message.reasoning).trim(),
  };
}

function seenMemory({ id, memoryId, content, memoryType, action, confidence }: MemoryTrace): MemoryShown {
  return { id, memoryId, content, type: memoryType, action, score: confidence, parts: {} };
}

function tracedMemory({ id, memoryId, content, memoryType, action, confidence, meta }: TracedMemory): MemoryShown {
  return { id, memoryId, content, type: memoryType ?? undefined, action, score: confidence ?? undefined, parts: meta };
}

function tracedTool({ id, toolName: name, toolArguments: parameters, toolResult, status, errorMessage }: TracedTool): ToolShown {
  const state = status === "success" ? "done" : status === "error" || status === "cancelled" ? "failed" : "running";
  const result = state === "failed" ? (errorMessage ?? undefined) : (toolResult ?? undefined);
  return { id, name, parameters, state, result, truncated: false };
}
