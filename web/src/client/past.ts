import { isErased } from "../protocol/envelope";
import { type Envelope, Type } from "../protocol/messages";
import { History } from "./history";
import { Log } from "./log";
import type { Transcript } from "./transcript";

/** More stanzas than this are not read one by one when a conversation opens. */
const LONG = 1_000;
/** How many messages of a long conversation are kept in the browser. */
const KEPT = 200;

export type Pages = Pick<History, "ended" | "older">;

/** What was said in a conversation before it was opened: what this browser holds, and older pages from the server. */
export class Past {
  #log: Log;
  #pages: Pages | undefined;

  constructor(
    database: IDBDatabase,
    id: string,
    private readonly transcript: Transcript,
    private readonly open: () => Pages = () => new History(id),
  ) {
    this.#log = new Log(database, id);
  }

  /** There are messages before the first one. */
  get more(): boolean {
    return this.#pages?.ended === false;
  }

  /** Fill the transcript with what is newest; the cursor after it, 0 if everything has to be told. */
  async read(signal: AbortSignal): Promise<number> {
    const { base, envelopes, cursor } = await this.#log.read();
    if (base) {
      this.#pages = this.open();
      this.transcript.prepend(base);
    }
    for (const envelope of envelopes) this.transcript.apply(envelope);
    if (envelopes.length > LONG) this.#shorten(cursor);
    return cursor || this.#readNewest(signal);
  }

  /** Put some older messages before the others. */
  async older(signal: AbortSignal): Promise<void> {
    const before = this.transcript.all.length;
    // The first pages may hold nothing that the browser does not.
    while (this.#pages && !this.#pages.ended && this.transcript.all.length === before) {
      this.transcript.prepend((await this.#pages.older(signal)).messages);
    }
  }

  /** Keep the next stanza. */
  append(envelope: Envelope): void {
    this.#log.append(envelope);
    if (!isErased(envelope) && envelope.type === Type.Erasure) this.#log.erase(envelope.body.ids);
  }

  /** Forget everything: the agent tells it anew. */
  clear(): void {
    this.#log.clear();
    this.#pages = undefined;
    this.transcript.clear();
  }

  settled(): Promise<void> {
    return this.#log.settled();
  }

  /** What was never seen here and is long is not replayed: its newest page is enough to go on from. */
  async #readNewest(signal: AbortSignal): Promise<number> {
    const pages = this.open();
    const newest = await pages.older(signal).catch(() => undefined);
    if (!newest || pages.ended) return 0;
    this.#pages = pages;
    this.transcript.prepend(newest.messages);
    this.#log.rebase(newest.messages, newest.head);
    return newest.head;
  }

  /** Keep the newest messages in place of the many stanzas that made them. */
  #shorten(cursor: number): void {
    const all = this.transcript.all;
    if (all.every(({ status }) => status !== "streaming" && status !== "waiting")) this.#log.rebase(all.slice(-KEPT), cursor);
  }
}
