import type { Value } from "../protocol/messages";
import { ask } from "./access";

type Map = { readonly [key: string]: Value };

/** A message and all that made it, as the server tells it. Times are ISO 8601. */
export interface Trace {
  readonly message: { readonly id: string; readonly previousId: string | null; readonly createdAt: string };
  readonly sentences: readonly TracedSentence[];
  readonly reasoning: readonly { readonly id: string; readonly content: string; readonly createdAt: string }[];
  readonly toolUses: readonly TracedTool[];
  readonly memories: readonly TracedMemory[];
  readonly audio: readonly TracedAudio[];
  /** How long the model was waited for: once, and again after each round of tools. */
  readonly waits: readonly { readonly askedAt: string; readonly firstTokenAt: string }[];
  readonly stanzas: readonly { readonly type: number; readonly ref: string; readonly createdAt: string }[];
}

export interface TracedAudio {
  readonly id: string;
  readonly durationMs: number | null;
  readonly transcription: string | null;
  /** When its words were known (`knownAt`) and how long that took (`tookMs`), where that was noted. */
  readonly transcriptionMeta: Map;
}

export interface TracedSentence {
  readonly id: string;
  readonly text: string;
  readonly audioBytesize: number | null;
  readonly durationMs: number | null;
  readonly createdAt: string;
}

export interface TracedTool {
  readonly id: string;
  readonly toolName: string;
  readonly toolArguments: Map;
  readonly toolResult: Value;
  readonly status: "pending" | "running" | "success" | "error" | "cancelled";
  readonly errorMessage: string | null;
  readonly createdAt: string;
  readonly completedAt: string | null;
}

export interface TracedMemory {
  readonly id: string;
  readonly memoryId: string;
  readonly action: "retrieved" | "stored" | "updated";
  readonly content: string;
  readonly memoryType: string | null;
  readonly queryPrompt: string | null;
  readonly confidence: number | null;
  /** How the score is made up, where that is known: `meaning`, `words`, `standing`. */
  readonly meta: Map;
}

/** What made an answer, and what made the question before it, if there was one. */
export async function readTrace(id: string, signal: AbortSignal): Promise<{ answer: Trace; question: Trace | undefined }> {
  const answer = await read(id, signal);
  const { previousId } = answer.message;
  return { answer, question: previousId === null ? undefined : await read(previousId, signal) };
}

async function read(id: string, signal: AbortSignal): Promise<Trace> {
  return (await (await ask(`/api/v1/messages/${id}/trace`, signal)).json()) as Trace;
}
