import type { MemoryTrace, Value } from "../protocol/messages";

export interface ToolUse {
  readonly id: string;
  readonly name: string;
  readonly parameters: { readonly [key: string]: Value };
  /** Missing while it runs. */
  readonly outcome?: { success: boolean; result: Value | undefined; truncated: boolean };
}

export interface Note {
  readonly id: string;
  readonly content: string;
  /** Not stored by the server yet. */
  readonly waiting: boolean;
}

/**
 * How far a message has come. A user's: queued (only here), sent, or refused. Alicia's: queued and waiting (asked for
 * again), streaming, then completed, stopped or failed.
 */
export type Status = "queued" | "refused" | "sent" | "waiting" | "streaming" | "completed" | "stopped" | "failed";

export interface Sentence {
  readonly id: string;
  readonly text: string;
  /** Its sound can be heard again, and lasts so long. */
  readonly durationMs?: number;
}

/** One message with all that belongs to it. Never changed: a change makes a new one. */
export interface Message {
  readonly id: string;
  readonly role: "user" | "assistant";
  readonly status: Status;
  readonly text: string;
  readonly previousId?: string | undefined;
  readonly supersedes?: string | undefined;
  /** Known only of what the server's history told. */
  readonly supersededBy?: string | undefined;
  readonly sentences: readonly Sentence[];
  readonly reasoning: string;
  readonly tools: readonly ToolUse[];
  readonly memories: readonly MemoryTrace[];
  readonly notes: readonly Note[];
  readonly time?: number | undefined;
  /** Its key in the outbox, while it waits there. */
  readonly key?: number | undefined;
  /** The recording of a message that was spoken; `recorded` once it can be heard again. */
  readonly audioId?: string | undefined;
  readonly recorded?: boolean;
  /** Somebody spoke into this answer. */
  readonly interrupted?: boolean;
  /** Why it failed or was refused, in words for the user. */
  readonly failure?: string;
  readonly erased?: boolean;
}

/** A message in view, among its variants, oldest first. */
export interface Shown {
  readonly message: Message;
  readonly variants: readonly string[];
}

/** A message with nothing in it yet. */
export function blank(id: string, role: Message["role"], status: Status): Message {
  return { id, role, status, text: "", sentences: [], reasoning: "", tools: [], memories: [], notes: [] };
}

/** What is left of a message when these ids are erased; the same message if they are not in it. */
export function without(message: Message, ids: ReadonlySet<string>): Message {
  if (ids.has(message.id)) return { ...message, text: "", sentences: [], reasoning: "", tools: [], memories: [], recorded: false, erased: true };
  const notes = message.notes.filter((note) => !ids.has(note.id));
  const memories = message.memories.filter((trace) => !ids.has(trace.id) && !ids.has(trace.memoryId));
  const lost = notes.length < message.notes.length || memories.length < message.memories.length;
  return lost ? { ...message, notes, memories } : message;
}
