import { ask } from "./access";
import { done, result } from "./database";

/** A conversation in the list. */
export interface Entry {
  id: string;
  title: string | undefined;
  /** Its first words, for when it has no title. */
  preview: string | undefined;
  updatedAt: number;
}

interface Kept extends Partial<Entry> {
  id: string;
  becameId?: string;
}

interface Page {
  items: { id: string; title?: string | null; status?: string; updatedAt?: string; createdAt?: string }[];
}

const EVERY = 5_000;
const LONGEST = 80;

/** The conversations that this browser and the server know, newest first. */
export class Library {
  entries: readonly Entry[] = [];
  /** Undefined until the server was asked. */
  reachable: boolean | undefined;
  #local = new Map<string, Kept>();
  #remote: Page["items"] = [];
  #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly database: IDBDatabase) {}

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  list = (): readonly Entry[] => this.entries;

  async open(): Promise<void> {
    const all = (await result(this.database.transaction("conversations").objectStore("conversations").getAll())) as Kept[];
    for (const kept of all) this.#local.set(kept.id, kept);
    this.#changed();
  }

  /** Ask the server; while it can't be reached, ask again and again. */
  async refresh(signal: AbortSignal): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const answer = await ask("/api/v1/conversations?limit=100", signal);
      this.#remote = ((await answer.json()) as Page).items;
      this.reachable = true;
    } catch {
      if (signal.aborted) return;
      this.reachable = await answers(signal);
      if (!this.reachable) this.#timer = setTimeout(() => void this.refresh(signal), EVERY);
    }
    this.#changed();
  }

  /** What a draft has become, if the server has named it. */
  real(id: string): string {
    return this.#local.get(id)?.becameId ?? id;
  }

  /** Remember what a conversation is about, and that something has just happened in it. */
  async know(entry: { id: string; title?: string | undefined; preview?: string | undefined }, now = Date.now()): Promise<void> {
    const before = this.#local.get(entry.id);
    const kept: Kept = {
      ...before,
      id: entry.id,
      title: entry.title ?? before?.title,
      preview: entry.preview ?? before?.preview,
      updatedAt: now,
    };
    await this.#keep(kept);
  }

  /** The server has given a draft its id. */
  async rename(draft: string, id: string): Promise<void> {
    const before = this.#local.get(draft);
    await this.#keep({ updatedAt: Date.now(), ...this.#local.get(id), ...before, id });
    await this.#keep({ id: draft, becameId: id });
  }

  /** Give a conversation that was begun here its first words as a title, so that every device can tell it from others. */
  async entitle(id: string, signal: AbortSignal): Promise<void> {
    const title = this.#local.get(id)?.preview?.split("\n")[0]?.replace(/[`*_#]/g, "").trim().slice(0, LONGEST);
    if (!title) return;
    const init = { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify({ title }) };
    await ask(`/api/v1/conversations/${id}`, signal, init).catch(() => undefined);
  }

  async #keep(kept: Kept): Promise<void> {
    this.#local.set(kept.id, kept);
    this.#changed();
    const transaction = this.database.transaction("conversations", "readwrite");
    transaction.objectStore("conversations").put(kept);
    await done(transaction).catch((error: unknown) => console.warn("conversation not kept", error));
  }

  #changed(): void {
    this.entries = merge([...this.#local.values()], this.#remote);
    for (const listener of this.#listeners) listener();
  }
}

/** One entry for each conversation; the server knows titles, this browser knows first words. */
export function merge(local: readonly Kept[], remote: Page["items"]): Entry[] {
  const entries = new Map<string, Entry>();
  for (const { id, becameId, title, preview, updatedAt } of local) {
    if (becameId === undefined) entries.set(id, { id, title, preview, updatedAt: updatedAt ?? 0 });
  }
  for (const { id, title, status, updatedAt, createdAt } of remote) {
    if (status === "deleted") {
      entries.delete(id);
      continue;
    }
    const known = entries.get(id);
    const at = utc(updatedAt ?? createdAt);
    entries.set(id, {
      id,
      title: title || known?.title,
      preview: known?.preview,
      updatedAt: Math.max(at, known?.updatedAt ?? 0),
    });
  }
  return [...entries.values()].sort((one, other) => other.updatedAt - one.updatedAt);
}

function utc(time: string | undefined): number {
  if (!time) return 0;
  return Date.parse(/Z|[+-]\d\d:?\d\d$/.test(time) ? time : `${time}Z`) || 0;
}

async function answers(signal: AbortSignal): Promise<boolean> {
  return ask("/healthz", signal).then(
    () => true,
    () => false,
  );
}
