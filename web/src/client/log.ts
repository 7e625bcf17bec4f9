import { isErased } from "../protocol/envelope";
import type { Envelope } from "../protocol/messages";
import { done, result } from "./database";
import { subject } from "./session";

interface Row {
  conversationId: string;
  number: number;
  envelope: Envelope;
}

/** One conversation's durable stanzas, kept in the browser: what was seen once opens at once, and without a server. */
export class Log {
  #waiting: Row[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: IDBDatabase,
    private readonly conversationId: string,
  ) {}

  /** All that is held without a gap, from the beginning. */
  async read(): Promise<Envelope[]> {
    const rows = (await result(
      this.database.transaction("stanzas").objectStore("stanzas").getAll(this.#range()),
    )) as Row[];
    const held: Envelope[] = [];
    let cursor = 0;
    for (const { envelope } of rows) {
      // Tabs write side by side; what does not follow is asked for again.
      if (envelope.previousStanzaId !== cursor) break;
      held.push(envelope);
      cursor = envelope.stanzaId;
    }
    return held;
  }

  /** Keep a stanza soon; losing it only means hearing it again. */
  append(envelope: Envelope): void {
    const { conversationId } = this;
    this.#waiting.push({ conversationId, number: -envelope.stanzaId, envelope });
    if (this.#waiting.length === 1) this.#then(() => this.#flush());
  }

  /** Forget everything: the agent tells it anew. */
  clear(): void {
    this.#waiting = [];
    this.#then(async () => {
      const transaction = this.database.transaction("stanzas", "readwrite");
      transaction.objectStore("stanzas").delete(this.#range());
      await done(transaction);
    });
  }

  /** What these ids held is gone from here too. */
  erase(ids: readonly string[]): void {
    const gone = new Set(ids);
    this.#then(async () => {
      const transaction = this.database.transaction("stanzas", "readwrite");
      const store = transaction.objectStore("stanzas");
      for (const row of (await result(store.getAll(this.#range()))) as Row[]) {
        const id = subject(row.envelope.body);
        if (isErased(row.envelope) || typeof id !== "string" || !gone.has(id)) continue;
        store.put({ ...row, envelope: { ...row.envelope, body: { id, erased: true } } });
      }
      await done(transaction);
    });
  }

  /** Resolves when all that was asked for is done. */
  settled(): Promise<void> {
    return this.#writing;
  }

  async #flush(): Promise<void> {
    const rows = this.#waiting;
    this.#waiting = [];
    if (!rows.length) return;
    const transaction = this.database.transaction("stanzas", "readwrite", { durability: "relaxed" });
    for (const row of rows) transaction.objectStore("stanzas").put(row);
    await done(transaction);
  }

  #then(write: () => Promise<void>): void {
    // A full or forbidden storage must not stop the conversation: the server holds the log.
    this.#writing = this.#writing.then(write).catch((error: unknown) => console.warn("log not kept", error));
  }

  #range(): IDBKeyRange {
    return IDBKeyRange.bound([this.conversationId, 0], [this.conversationId, Infinity]);
  }
}
