import type { Value } from "../protocol/messages";
import { ask } from "./access";
import { call, remove } from "./calls";

/** Something that Alicia knows. */
export interface Memory {
  readonly id: string;
  readonly content: string;
  readonly importance: number;
  readonly confidence: number;
  readonly userRating: number | null;
  readonly sourceType: string | null;
  readonly sourceInfo: { readonly [key: string]: Value };
  readonly tags: readonly string[];
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly memoryType: string | null;
  readonly createdAt: string;
  /** How well it fits, from 0 to 1, where it was searched for. */
  readonly score?: number;
}

export type Change = { content?: string; userRating?: number | null; pinned?: boolean; archived?: boolean };

/** An answer that a memory was used for. */
export interface Use {
  readonly id: string;
  readonly conversationId: string;
  readonly messageId: string;
  readonly messageContent: string;
  readonly action: "retrieved" | "stored" | "updated";
  readonly similarityScore: number | null;
  readonly createdAt: string;
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

const PAGE = 200;
/** Reading a long document takes a while. */
const READING = 5 * 60_000;

/** Newest first. Throws Refused or Unavailable, as do the others. */
export function listMemories(archived: boolean, before: string | null, signal: AbortSignal): Promise<Page<Memory>> {
  const place = before === null ? "" : `&before=${before}`;
  return call("GET", `/memories?limit=${PAGE}&archived=${archived}${place}`, undefined, signal);
}

/** Best fit first. */
export async function searchMemories(query: string, signal: AbortSignal): Promise<readonly Memory[]> {
  return (await call<{ items: Memory[] }>("POST", "/memories/search", { query, limit: 50 }, signal)).items;
}

export function readMemory(id: string, signal: AbortSignal): Promise<Memory> {
  return call("GET", `/memories/${id}`, undefined, signal);
}

/** Let Alicia know something. */
export async function addMemory(content: string): Promise<Memory> {
  const { ids } = await call<{ ids: string[] }>("POST", "/memories", { content, sourceType: "you" });
  return readMemory(ids[0] ?? "", new AbortController().signal);
}

/** Remember a document piece by piece, in place of its earlier version; how many pieces are new. */
export async function addDocument(file: File): Promise<number> {
  const init = { method: "PUT", headers: { "content-type": "application/octet-stream" }, body: file };
  const answer = await ask(`/api/v1/documents?name=${encodeURIComponent(file.name)}`, new AbortController().signal, init, READING);
  return ((await answer.json()) as { added: number }).added;
}

export function changeMemory(id: string, change: Change): Promise<Memory> {
  return call("PATCH", `/memories/${id}`, change);
}

/** `restoreMemory` takes it back. */
export function deleteMemory(id: string): Promise<void> {
  return remove(`/memories/${id}`);
}

export function restoreMemory(id: string): Promise<Memory> {
  return call("POST", `/memories/${id}/restore`);
}

export async function usesOf(id: string, signal: AbortSignal): Promise<readonly Use[]> {
  return (await call<Page<Use>>("GET", `/memories/${id}/uses?limit=20`, undefined, signal)).items;
}
