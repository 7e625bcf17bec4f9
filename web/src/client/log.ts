import { isErased } from "../protocol/envelope";
import type { Envelope } from "../protocol/messages";
import { done, result } from "./database";
import { type Message, without } from "./message";
import { subject } from "./session";

interface Row {
  conversationId: string;
  number: number;
  envelope: Envelope;
}

interface Base {
  conversationId: string;
  cursor: number;
  messages: readonly Message[];
}

/** What this browser holds of a conversation: messages up to a stanza, and the stanzas after it. */
export interface Held {
  /** The newest messages of what was too long to keep whole; undefined if the log goes back to the beginning. */
  base: readonly Message[] | undefined;
  envelopes: Envelope[];
  /** The last stanza that is held. */
  cursor: number;
}

/** One conversation's durable stanzas, kept in the browser: what was seen once opens at once, and without a server. */
export class Log {
  #waiting: Row[] = [];
  #writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly database: IDBDatabase,
    private readonly conversationId: string,
  ) {}

  /** All that is held without a gap. */
  async read(): Promise<Held> {
    const transaction = this.database.transaction(["stanzas", "bases"]);
    const [base, rows] = (await Promise.all([
      result(transaction.objectStore("bases").get(this.conversationId)),
      result(transaction.objectStore("stanzas").getAll(this.#range())),
    ])) as [Base | undefined, Row[]];
    const envelopes: Envelope[] = [];
    let cursor = base?.cursor ?? 0;
    for (const { envelope } of rows) {
      if (envelope.stanzaId >= cursor) continue;
      // Tabs write side by side; what does not follow is asked for again.
      if (envelope.previousStanzaId !== cursor) break;
      envelopes.push(envelope);
      cursor = envelope.stanzaId;
    }
    return { base: base?.messages, envelopes, cursor };
  }

  /** From now on keep these messages in place of all stanzas up to the cursor. */
  rebase(messages: readonly Message[], cursor: number): void {
    const { conversationId } = this;
    this.#then(async () => {
      const transaction = this.database.transaction(["stanzas", "bases"], "readwrite");
      transaction.objectStore("bases").put({ conversationId, cursor, messages } satisfies Base);
      transaction.objectStore("stanzas").delete(IDBKeyRange.bound([conversationId, 0], [conversationId, -cursor]));
      await done(transaction);
    });
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
      const transaction = this.database.transaction(["stanzas", "bases"], "readwrite");
      transaction.objectStore("stanzas").delete(this.#range());
      transaction.objectStore("bases").delete(this.conversationId);
      await done(transaction);
    });
  }

  /** What these ids held is gone from here too. */
  erase(ids: readonly string[]): void {
    const gone = new Set(ids);
    this.#then(async () => {
      const transaction = this.database.transaction(["stanzas", "bases"], "readwrite");
      const store = transaction.objectStore("stanzas");
      const bases = transaction.objectStore("bases");
      const base = (await result(bases.get(this.conversationId))) as Base | undefined;
      if (base) bases.put({ ...base, messages: base.messages.map((message) => without(message, gone)) });
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
