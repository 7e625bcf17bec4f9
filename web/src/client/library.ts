import { ask, Refused } from "./access";
import { done, result } from "./database";
import { History } from "./history";
import { type Entry, type Kept, merge, type Remote } from "./shelf";

interface Page {
  items: Remote[];
  next: string | null;
}

type Change = { title?: string; status?: "active" | "archived" };

const EVERY = 5_000;
const PREVIEWS = 20;

/** The conversations that this browser and the server know, newest first. */
export class Library {
  entries: readonly Entry[] = [];
  /** Undefined until the server was asked. */
  reachable: boolean | undefined;
  #local = new Map<string, Kept>();
  #remote: Remote[] = [];
  #next: string | null = null;
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
    // Deleted in an earlier visit: nobody will take that back any more.
    for (const { id, status } of all) if (status === "deleted") await this.forget(id);
    this.#changed();
  }

  /** Ask the server; while it can't be reached, ask again and again. */
  async refresh(signal: AbortSignal): Promise<void> {
    clearTimeout(this.#timer);
    try {
      const { items, next } = await this.#page(signal);
      this.#remote = items;
      this.#next = next;
      this.reachable = true;
      void this.#preview(signal);
    } catch {
      if (signal.aborted) return;
      this.reachable = await answers(signal);
      if (!this.reachable) this.#timer = setTimeout(() => void this.refresh(signal), EVERY);
    }
    this.#changed();
  }

  /** There are older ones on the server than those that are listed. */
  get more(): boolean {
    return this.#next !== null;
  }

  /** List some older ones, too. */
  async loadMore(signal: AbortSignal): Promise<void> {
    const before = this.#next;
    if (before === null) return;
    const page = await this.#page(signal, before).catch(() => undefined);
    if (!page || this.#next !== before) return;
    this.#remote = [...this.#remote, ...page.items];
    this.#next = page.next;
    this.#changed();
  }

  /** What a draft has become, if the server has named it. */
  real(id: string): string {
    return this.#local.get(id)?.becameId ?? id;
  }

  /** Remember what a conversation is about, and that something has just happened in it. */
  async know(entry: { id: string; title?: string | undefined; preview?: string | undefined }, now = Date.now()): Promise<void> {
    const before = this.#local.get(entry.id);
    const { title } = entry;
    // The agent's word is newer than the list.
    if (title) this.#remote = this.#remote.map((each) => (each.id === entry.id ? { ...each, title } : each));
    const kept: Kept = {
      ...before,
      id: entry.id,
      title: title ?? before?.title,
      preview: entry.preview ?? before?.preview,
      updatedAt: now,
    };
    await this.#keep(kept);
  }

  /** The server has given a draft its id. */
  async rename(draft: string, id: string): Promise<void> {
    const before = this.#local.get(draft);
    const named: Kept = { id: draft, becameId: id };
    // Before the other is shown, or it would be listed twice until that is stored.
    this.#local.set(draft, named);
    await this.#keep({ updatedAt: Date.now(), ...this.#local.get(id), ...before, id });
    await this.#keep(named);
  }

  /** Give a conversation another title, put it away, or bring it back. Throws Refused or Unavailable. */
  async change(id: string, change: Change, signal: AbortSignal): Promise<void> {
    const init = { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify(change) };
    await ask(`/api/v1/conversations/${id}`, signal, init);
    await this.#set(id, change);
  }

  /** Delete a conversation; `change` with a status takes that back. Throws Refused or Unavailable. */
  async delete(id: string, signal: AbortSignal): Promise<void> {
    await ask(`/api/v1/conversations/${id}`, signal, { method: "DELETE" }).catch((error: unknown) => {
      // What is not there is as good as deleted.
      if (!(error instanceof Refused && error.status === 404)) throw error;
    });
    await this.#set(id, { status: "deleted" });
  }

  /** Keep nothing of a conversation in this browser. */
  async forget(id: string): Promise<void> {
    this.#local.delete(id);
    const transaction = this.database.transaction(["conversations", "stanzas", "bases"], "readwrite");
    transaction.objectStore("conversations").delete(id);
    transaction.objectStore("bases").delete(id);
    transaction.objectStore("stanzas").delete(IDBKeyRange.bound([id, 0], [id, Infinity]));
    await done(transaction).catch((error: unknown) => console.warn("conversation not forgotten", error));
  }

  /** Find first words for those that have no title yet and were begun elsewhere. */
  async #preview(signal: AbortSignal): Promise<void> {
    const nameless = this.#remote.filter(({ id, title, status }) => !title && status !== "deleted" && !this.#local.get(id)?.preview);
    for (const { id } of nameless.slice(0, PREVIEWS)) {
      const page = await new History(id).older(signal).catch(() => undefined);
      const first = page?.messages.find(({ role }) => role === "user");
      if (signal.aborted || !page) return;
      if (first) await this.#keep({ ...this.#local.get(id), id, preview: first.text.slice(0, 120) });
    }
  }

  async #set(id: string, change: { title?: string; status?: Entry["status"] | "deleted" }): Promise<void> {
    this.#remote = this.#remote.map((each) => (each.id === id ? { ...each, ...change } : each));
    await this.#keep({ ...this.#local.get(id), id, ...change });
  }

  async #page(signal: AbortSignal, before?: string): Promise<Page> {
    const answer = await ask(`/api/v1/conversations?limit=100${before ? `&before=${before}` : ""}`, signal);
    return (await answer.json()) as Page;
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

async function answers(signal: AbortSignal): Promise<boolean> {
  return ask("/healthz", signal).then(
    () => true,
    () => false,
  );
}
