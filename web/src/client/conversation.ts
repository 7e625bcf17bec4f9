import {
  type Bodies,
  type ConversationId,
  type Envelope,
  ErrorCode,
  type MessageId,
  Type,
} from "../protocol/messages";
import { isErased } from "../protocol/envelope";
import { type Access, knock } from "./access";
import { alone } from "./device";
import { type Connection, Driver } from "./driver";
import type { Heard } from "./hearing";
import { newId } from "./ids";
import { type Join, joinRoom } from "./link";
import type { Shown } from "./message";
import { Outbox } from "./outbox";
import { readPacket } from "./packet";
import { type Pages, Past } from "./past";
import { ClientSession, type Outgoing } from "./session";
import { Talk } from "./talk";
import { Transcript } from "./transcript";
import type { Speech } from "./voice";

/** What a view shows. A new object whenever something has changed. */
export interface View {
  /** The conversation's id, or a draft's name until the server has given it one. */
  id: string;
  title: string | undefined;
  shown: readonly Shown[];
  connection: Connection;
  /** What is being answered: the answer's id, or the question's while its answer has not begun. */
  answering: MessageId | undefined;
  /** The log is being read or replayed, so nothing can be said of what is not there. */
  loading: boolean;
  /** What is being said to the agent at the moment. */
  hearing: Heard | undefined;
  /** There is more before the first message; `loadOlder` brings some of it. */
  older: boolean;
  waiting: number;
}

export interface Helpers {
  database: IDBDatabase;
  device: string;
  language?: string;
  /** The conversation's first words, its title or its id have changed. */
  known?: (conversation: { id: string; title?: string | undefined; preview?: string | undefined }) => void;
  named?: (draft: string, id: string) => void;
  knock?: (id: string | undefined, device: string, signal: AbortSignal) => Promise<Access>;
  join?: Join;
  pages?: () => Pages;
}

export const isDraft = (id: string): boolean => id.startsWith("draft_");

/** One conversation, kept in step with the server for as long as it is open. What is written is safe at once. */
export class Conversation {
  #transcript = new Transcript();
  #outbox: Outbox;
  #past: Past | undefined;
  #session: ClientSession;
  #driver: Driver;
  #stop = new AbortController();
  #running: Promise<void> | undefined;
  #reading: Promise<void>;
  #listeners = new Set<() => void>();
  #view: View | undefined;
  #title: string | undefined;
  #loading: boolean;
  #head = 0;
  #loadingOlder: Promise<void> | undefined;
  #talk = new Talk(() => this.#changed());

  constructor(
    public id: string,
    private readonly helpers: Helpers,
  ) {
    this.#outbox = new Outbox(helpers.database);
    this.#loading = !isDraft(id);
    this.#session = new ClientSession(isDraft(id) ? "" : (id as ConversationId), 0);
    this.#driver = new Driver({
      session: this.#session,
      settings: () => ({
        device: helpers.device,
        clientVersion: "alicia-web",
        features: this.#talk.wanted ? ["streaming", "voice"] : ["streaming"],
        preferences: { timeZone: Intl.DateTimeFormat().resolvedOptions().timeZone },
        ...(helpers.language && { preferredLanguage: helpers.language }),
      }),
      knock: (signal) => (helpers.knock ?? knock)(this.#session.conversationId || undefined, helpers.device, signal),
      join: helpers.join ?? joinRoom,
      linked: (link) => this.#talk.linked(link),
      eager: () => this.#talk.wanted,
      take: (packet) => this.#take(packet),
      changed: () => this.#changed(),
    });
    this.#reading = this.#read();
  }

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  view = (): View => {
    this.#view ??= {
      id: this.id,
      title: this.#title,
      shown: this.#transcript.shown,
      connection: this.#driver.connection,
      answering: this.#answering(),
      loading: this.#loading,
      hearing: this.#talk.hearing,
      older: this.#past?.more === true,
      waiting: this.#session.outbox.length,
    };
    return this.#view;
  };

  /** Connect, and stay so until `close`. */
  start(): void {
    this.#running ??= this.#reading.then(() =>
      isDraft(this.id) ? alone(this.id, this.#stop.signal, () => this.#runDraft()) : this.#driver.run(this.#stop.signal),
    ).catch((error: unknown) => {
      if (!this.#stop.signal.aborted) throw error;
    });
  }

  /** There is hope that the server is back. */
  nudge(): void {
    if (this.#driver.connection.state === "away") this.#driver.wake();
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#running;
    await this.#past?.settled();
  }

  /** Say something. Resolves when it is safe in the browser; it is sent as soon as that is possible. */
  async ask(text: string): Promise<void> {
    this.#transcript.chooseNewest();
    const body = { id: newId("am"), conversationId: this.#address, content: text, timestamp: new Date().toISOString() };
    await this.#submit({ type: Type.UserMessage, body });
  }

  /** Say something else in place of an earlier message. */
  edit(targetId: string, content: string): Promise<void> {
    const body = { id: newId("am"), conversationId: this.#address, targetId: targetId as MessageId, mode: "edit" as const, content };
    return this.#submit({ type: Type.ControlVariation, body });
  }

  /** Have an answer given again. */
  regenerate(targetId: string): Promise<void> {
    const body = { id: newId("am"), conversationId: this.#address, targetId: targetId as MessageId, mode: "regenerate" as const };
    return this.#submit({ type: Type.ControlVariation, body });
  }

  /** Write a note on a message. */
  note(messageId: string, content: string): Promise<void> {
    const body = { id: newId("aucc"), conversationId: this.#address, messageId: messageId as MessageId, content };
    return this.#submit({ type: Type.UserNote, body });
  }

  /** Stop what is being answered. */
  async stop(): Promise<void> {
    const targetId = this.#answering();
    if (!targetId || this.#session.outbox.some((each) => each.type === Type.ControlStop && each.body.targetId === targetId)) return;
    await this.#submit({ type: Type.ControlStop, body: { conversationId: this.#address, targetId, stopType: "all" } });
  }

  /** Show this variant of a message. */
  choose(id: string): void {
    this.#transcript.choose(id);
    this.#changed();
  }

  /** Speak and hear in this conversation's room from now on, or no more. */
  speak(speech: Speech | undefined): void {
    this.#talk.set(speech);
    // The agent says answers aloud only to those who have asked for it.
    this.#session.wantsConfiguration = true;
    this.start();
    this.#driver.wake();
  }

  /** Bring a page of older messages, if there are any; what can't be had now can be asked for again. */
  loadOlder(): Promise<void> {
    this.#loadingOlder ??= Promise.resolve(this.#past?.older(this.#stop.signal))
      .catch((error: unknown) => console.info("older messages not loaded", error))
      .finally(() => {
        this.#loadingOlder = undefined;
        this.#changed();
      });
    return this.#loadingOlder;
  }

  /** Bring older messages until this one is there; false if it is not found. */
  async find(id: string): Promise<boolean> {
    await this.#reading;
    for (let before = -1; !this.#transcript.get(id) && this.view().older && before !== this.#transcript.all.length; ) {
      before = this.#transcript.all.length;
      await this.loadOlder();
    }
    return this.#transcript.get(id) !== undefined;
  }

  /** Take back a message that was not sent; false if it is on its way. */
  async discard(id: string): Promise<boolean> {
    const message = this.#transcript.get(id);
    if (message?.key === undefined) return false;
    if (message.status !== "refused" && !this.#session.withdraw(message.key)) return false;
    await this.#outbox.remove(message.key);
    this.#transcript.forget(id);
    this.#changed();
    return true;
  }

  get #address(): ConversationId {
    return this.id as ConversationId;
  }

  async #submit(fresh: Parameters<Outbox["add"]>[1]): Promise<void> {
    await this.#reading;
    const key = await this.#outbox.add(this.id, fresh);
    const outgoing = { ...fresh, key } as Outgoing;
    this.#transcript.expect(outgoing);
    this.#session.submit(outgoing);
    if (fresh.type === Type.UserMessage) this.#tellKnown();
    this.#changed();
    this.start();
    this.#driver.wake();
  }

  async #read(): Promise<void> {
    if (!isDraft(this.id)) {
      this.#past = this.#openPast();
      this.#session.cursor = await this.#past.read(this.#stop.signal);
      this.#loading = this.#session.cursor === 0;
    }
    await this.#readOutbox();
    this.#changed();
  }

  #openPast(): Past {
    return new Past(this.helpers.database, this.id, this.#transcript, this.helpers.pages);
  }

  async #readOutbox(): Promise<void> {
    const known = new Set(this.#session.outbox.map((each) => each.key));
    for (const { refused, conversationId: _, ...outgoing } of await this.#outbox.of(this.id)) {
      this.#transcript.expect(outgoing as Outgoing, refused);
      if (refused === undefined && !known.has(outgoing.key)) this.#session.submit(outgoing as Outgoing);
    }
  }

  /** Only one tab may open a new conversation, or it would become two. */
  async #runDraft(): Promise<void> {
    const store = this.helpers.database.transaction("conversations").objectStore("conversations").get(this.id);
    const record = await new Promise<{ becameId?: string } | undefined>((resolve) => {
      store.onsuccess = () => resolve(store.result as { becameId?: string } | undefined);
      store.onerror = () => resolve(undefined);
    });
    if (record?.becameId) this.helpers.named?.(this.id, record.becameId);
    else await this.#driver.run(this.#stop.signal);
  }

  async #take(packet: Uint8Array): Promise<boolean> {
    let configured = false;
    for (const item of readPacket(packet)) {
      if ("unreadable" in item) {
        this.#session.skip(item.stanzaId, item.previousStanzaId);
        continue;
      }
      const before = [...this.#session.outbox];
      const receipt = this.#session.receive(item);
      if (receipt === "stray") continue;
      if (receipt === "restarted") {
        this.#past?.clear();
        for (const each of this.#session.outbox) this.#transcript.expect(each);
      }
      if (!isErased(item) && item.type === Type.Configuration) {
        configured = true;
        await this.#hearConfiguration(item.body);
      }
      if (receipt === "accepted") this.#accept(item);
      this.#talk.hear(item, receipt);
      await this.#settle(before, item);
    }
    this.#loading &&= !configured || (this.#session.cursor ?? 0) > this.#head;
    if ((this.#session.cursor ?? 0) <= this.#head) this.#loading = false;
    this.#changed();
    return configured;
  }

  #accept(envelope: Envelope): void {
    this.#past?.append(envelope);
    const first = !isErased(envelope) && envelope.type === Type.UserMessage && !envelope.body.previousId && !this.#past?.more;
    this.#transcript.apply(envelope);
    if (first) this.#tellKnown();
  }

  async #hearConfiguration(body: Bodies[12]): Promise<void> {
    this.#head = body.lastServerStanzaId ?? 0;
    const opened = this.#session.conversationId;
    if (isDraft(this.id) && opened) {
      const draft = this.id;
      // Before anything is sent: otherwise a reload could say the same words in a second conversation.
      await this.#outbox.move(draft, opened);
      this.id = opened;
      this.#past = this.#openPast();
      this.helpers.named?.(draft, opened);
    }
    if (body.title && body.title !== this.#title) {
      this.#title = body.title;
      this.#tellKnown();
    }
  }

  /** Bring the browser's outbox up to what the session has let go of. */
  async #settle(before: readonly Outgoing[], item: Envelope): Promise<void> {
    const error = !isErased(item) && item.type === Type.ErrorMessage ? item.body : undefined;
    const [first] = before;
    if (first && this.#session.outbox[0] !== first) {
      if (error) {
        await this.#outbox.refuse(first.key, error.message);
        this.#transcript.expect(first, error.message);
        return;
      }
      this.#transcript.confirm(first);
      await this.#outbox.remove(first.key);
    }
    if (error?.originatingId && error.code >= ErrorCode.TooMany) this.#transcript.fail(error.originatingId, error.message);
  }

  #answering(): MessageId | undefined {
    const last = this.#transcript.shown.findLast(({ message }) => message.status !== "queued" && message.status !== "refused")?.message;
    const running = this.#transcript.shown.findLast(({ message }) => message.status === "streaming")?.message;
    if (running) return running.id as MessageId;
    const unanswered = last?.status === "waiting" || (last?.role === "user" && last.status === "sent");
    return unanswered && !this.#loading ? (last.id as MessageId) : undefined;
  }

  #tellKnown(): void {
    const first = this.#transcript.shown.find(({ message }) => message.role === "user")?.message;
    this.helpers.known?.({ id: this.id, title: this.#title, preview: first?.text.slice(0, 120) });
  }

  #changed(): void {
    this.#view = undefined;
    for (const listener of this.#listeners) listener();
  }
}
