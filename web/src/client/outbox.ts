import type { Outgoing } from "./session";
import { done, result } from "./database";

/** A body that waits in the browser's storage; `refused` says why the agent would not take it. */
export type Kept = Outgoing & { conversationId: string; refused?: string };

type Fresh = Outgoing extends infer Each ? (Each extends unknown ? Omit<Each, "key"> : never) : never;

/** What was written and is not confirmed, by conversation, oldest first. It outlives the page. */
export class Outbox {
  constructor(private readonly database: IDBDatabase) {}

  /** Store a body; resolves with its key when it is safe. */
  async add(conversationId: string, outgoing: Fresh): Promise<number> {
    const transaction = this.database.transaction("outbox", "readwrite");
    const key = result(transaction.objectStore("outbox").add({ ...outgoing, conversationId }));
    await done(transaction);
    return Number(await key);
  }

  async of(conversationId: string): Promise<Kept[]> {
    const store = this.database.transaction("outbox").objectStore("outbox");
    return (await result(store.index("conversationId").getAll(conversationId))) as Kept[];
  }

  /** The conversations that have something to send. */
  async waiting(): Promise<string[]> {
    const all = (await result(this.database.transaction("outbox").objectStore("outbox").getAll())) as Kept[];
    return [...new Set(all.filter((each) => each.refused === undefined).map((each) => each.conversationId))];
  }

  async remove(key: number): Promise<void> {
    const transaction = this.database.transaction("outbox", "readwrite");
    transaction.objectStore("outbox").delete(key);
    await done(transaction);
  }

  /** Keep it, but send it no more. */
  async refuse(key: number, refused: string): Promise<void> {
    const transaction = this.database.transaction("outbox", "readwrite");
    const store = transaction.objectStore("outbox");
    const kept = (await result(store.get(key))) as Kept | undefined;
    if (kept) store.put({ ...kept, refused });
    await done(transaction);
  }

  /** A new conversation has got its id: what was written before belongs there, and the draft points to it. */
  async move(draft: string, conversationId: string): Promise<void> {
    const transaction = this.database.transaction(["outbox", "conversations"], "readwrite");
    const outbox = transaction.objectStore("outbox");
    const conversations = transaction.objectStore("conversations");
    for (const kept of (await result(outbox.index("conversationId").getAll(draft))) as Kept[]) {
      outbox.put({ ...kept, conversationId });
    }
    const known = (await result(conversations.get(draft))) as object | undefined;
    if (known) conversations.put({ ...known, id: conversationId });
    conversations.put({ id: draft, becameId: conversationId });
    await done(transaction);
  }
}
