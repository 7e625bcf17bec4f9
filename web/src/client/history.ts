import { ask } from "./access";
import { blank, type Message } from "./message";

const PAGE = 100;

interface Row {
  id: string;
  previousId: string | null;
  role: "user" | "assistant" | "system";
  content: string;
  status: "pending" | "streaming" | "completed" | "failed";
  supersededBy: string | null;
  notes: { id: string; content: string }[];
  createdAt: string;
}

interface Page {
  items: Row[];
  next: string | null;
  lastServerStanzaId: number;
}

/** A conversation's messages as the server has them, newest page first: what is too old to be kept here. */
export class History {
  /** Undefined before the first page, null when there is none left. */
  #next: string | null | undefined;

  constructor(private readonly conversationId: string) {}

  get ended(): boolean {
    return this.#next === null;
  }

  /** The next older page, oldest message first, and the head of the log when it was read. */
  async older(signal: AbortSignal): Promise<{ messages: Message[]; head: number }> {
    const before = this.#next ? `&before=${this.#next}` : "";
    const path = `/api/v1/conversations/${this.conversationId}/messages?superseded=true&limit=${PAGE}${before}`;
    const page = (await (await ask(path, signal)).json()) as Page;
    this.#next = page.next;
    return { messages: page.items.filter(({ role }) => role !== "system").map(toMessage), head: page.lastServerStanzaId };
  }
}

function toMessage({ id, previousId, role, content, status, supersededBy, notes, createdAt }: Row): Message {
  const state = role === "user" ? "sent" : status === "pending" ? "streaming" : status;
  return {
    ...blank(id, role === "user" ? "user" : "assistant", state),
    text: content,
    previousId: previousId ?? undefined,
    supersededBy: supersededBy ?? undefined,
    notes: notes.map((note) => ({ id: note.id, content: note.content, waiting: false })),
    time: Date.parse(createdAt),
  };
}
