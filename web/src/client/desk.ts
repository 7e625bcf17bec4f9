import { Conversation, isDraft } from "./conversation";
import { openDatabase } from "./database";
import { nameDevice } from "./device";
import { newId } from "./ids";
import { Library } from "./library";
import { Outbox } from "./outbox";
import { Preferences } from "./preferences";
import { eraseEverything } from "./settings";
import { whoAmI } from "./user";

const LINGER = 1_000;

/** All that a page has open: the conversation in view, and those that still have something to send. */
export class Desk {
  #open = new Map<string, Conversation>();
  #leaving = new Map<Conversation, () => void>();
  #stop = new AbortController();
  readonly preferences = new Preferences();
  /** A draft in view has got its id. */
  onNamed: (draft: string, id: string) => void = () => undefined;

  private constructor(
    private readonly database: IDBDatabase,
    private readonly device: string,
    readonly library: Library,
  ) {}

  /** Throws Refused if somebody has to sign in first. */
  static async make(): Promise<Desk> {
    const [user, device] = await Promise.all([whoAmI(), nameDevice()]);
    const database = await openDatabase(`alicia:${user}`);
    void navigator.storage?.persist?.();
    const desk = new Desk(database, device, new Library(database));
    await desk.library.open();
    void desk.library.refresh(desk.#stop.signal);
    void desk.#sendWhatWaits();
    const nudge = () => {
      for (const conversation of desk.#open.values()) conversation.nudge();
      if (desk.library.reachable === false) void desk.library.refresh(desk.#stop.signal);
      if (desk.preferences.current()) void desk.preferences.read();
    };
    addEventListener("online", nudge);
    document.addEventListener("visibilitychange", () => document.visibilityState === "visible" && nudge());
    return desk;
  }

  /** The conversation of this id, open. */
  open(id: string): Conversation {
    const known = this.#open.get(id);
    if (known) {
      this.#leaving.get(known)?.();
      return known;
    }
    const conversation = new Conversation(id, {
      database: this.database,
      device: this.device,
      language: navigator.language,
      known: (entry) => void this.library.know(entry),
      named: (draft, real) => {
        // What this tab opened moves along; what another tab opened is opened anew.
        if (conversation.id === real) this.#open.set(real, conversation);
        this.#open.delete(draft);
        void this.library.rename(draft, real);
        this.onNamed(draft, real);
      },
    });
    this.#open.set(id, conversation);
    if (!isDraft(id)) conversation.start();
    return conversation;
  }

  /** A new conversation; the server hears of it with the first words. */
  draft(): string {
    return newId("draft");
  }

  /** It is out of view: close it as soon as it has nothing left to send, unless it is opened again before. */
  leave(conversation: Conversation): void {
    const check = () => {
      if (conversation.view().waiting > 0) return;
      stay();
      if (this.#open.get(conversation.id) === conversation) this.#open.delete(conversation.id);
      void conversation.close();
    };
    const unsubscribe = conversation.subscribe(check);
    const timer = setTimeout(check, LINGER);
    const stay = () => {
      clearTimeout(timer);
      unsubscribe();
      this.#leaving.delete(conversation);
    };
    this.#leaving.get(conversation)?.();
    this.#leaving.set(conversation, stay);
  }

  /** Erase everything, on the server and in this browser. Throws Refused or Unavailable if the server did not. */
  async erase(): Promise<void> {
    await eraseEverything();
    this.#stop.abort();
    await Promise.all([...this.#open.values()].map((conversation) => conversation.close()));
    const { name } = this.database;
    this.database.close();
    await new Promise((resolve) => {
      const deleting = indexedDB.deleteDatabase(name);
      deleting.onsuccess = deleting.onerror = deleting.onblocked = resolve;
    });
    sessionStorage.clear();
  }

  async #sendWhatWaits(): Promise<void> {
    for (const id of await new Outbox(this.database).waiting()) {
      const inView = this.#open.get(id);
      const conversation = inView ?? this.open(id);
      conversation.start();
      if (!inView) this.leave(conversation);
    }
  }
}
