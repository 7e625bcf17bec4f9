import { ask } from "./access";
import { call, remove } from "./calls";

/** What a user wants to have the same in all conversations. */
export interface Settings {
  readonly memory: boolean;
  readonly recording: boolean;
  readonly voice: string | null;
  readonly speed: number;
  readonly language: string | null;
}

export interface Tool {
  readonly name: string;
  readonly description: string;
  readonly enabled: boolean;
}

/** Throws Refused or Unavailable, as do the others. */
export function readSettings(signal: AbortSignal): Promise<Settings> {
  return call("GET", "/settings", undefined, signal);
}

export function changeSettings(change: Partial<Settings>): Promise<Settings> {
  return call("PATCH", "/settings", change);
}

/** The names of the voices that the server tells of, and whether it may have others. */
export async function listVoices(signal: AbortSignal): Promise<{ names: string[]; others: boolean }> {
  const { items, others } = await call<{ items: { name: string }[]; others: boolean }>("GET", "/voices", undefined, signal);
  return { names: items.map(({ name }) => name), others };
}

export async function listTools(signal: AbortSignal): Promise<readonly Tool[]> {
  return (await call<{ items: Tool[] }>("GET", "/tools", undefined, signal)).items;
}

/** For everybody on this server; Refused with 403 for whoever may not. */
export function switchTool(name: string, enabled: boolean): Promise<Tool> {
  return call("PATCH", `/tools/${encodeURIComponent(name)}`, { enabled });
}

/** Bring an archive back in; how many conversations and memories were new. */
export async function importArchive(file: Blob): Promise<{ conversations: number; memories: number }> {
  const init = { method: "POST", headers: { "content-type": "application/zip" }, body: file };
  const answer = await ask("/api/v1/import", new AbortController().signal, init, IMPORT_PATIENCE);
  const { imported } = (await answer.json()) as { imported: { [table: string]: number } };
  return { conversations: imported["alicia_conversations"] ?? 0, memories: imported["alicia_memory"] ?? 0 };
}

const IMPORT_PATIENCE = 10 * 60_000;

/** Erase all that the server has of the user, really. */
export function eraseEverything(): Promise<void> {
  return remove("/me");
}
