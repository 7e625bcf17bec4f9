import { isErased } from "../protocol/envelope";
import { type Bodies, type Envelope, type LiveEnvelope, type MemoryTrace, Type, type TypeCode } from "../protocol/messages";
import { arrange } from "./branches";
import { blank, type Message, type Note, type Shown, without } from "./message";
import type { Outgoing } from "./session";

type Change = Partial<Omit<Message, "id">>;

/** A conversation as a reader sees it, made from the log's stanzas and from what still waits in the outbox. */
export class Transcript {
  #messages = new Map<string, Message>();
  #chosen = new Map<string, string>();
  #unplaced = new Map<string, Note[]>();
  #shown: Shown[] | undefined;

  /** The messages of the branches in view, in reading order; the same array until something changes. */
  get shown(): Shown[] {
    this.#shown ??= arrange([...this.#messages.values()], this.#chosen);
    return this.#shown;
  }

  get(id: string): Message | undefined {
    return this.#messages.get(id);
  }

  /** Show this one of several variants. */
  choose(id: string): void {
    this.#chosen.set(rootOf(this.#messages, id), id);
    this.#shown = undefined;
  }

  /** Show the newest of everything. */
  chooseNewest(): void {
    this.#chosen.clear();
    this.#shown = undefined;
  }

  clear(): void {
    this.#messages.clear();
    this.#shown = undefined;
  }

  /** All messages of all branches, in the order of the log. */
  get all(): Message[] {
    return [...this.#messages.values()];
  }

  /** Put older messages before the others; what is known already stays as it is. */
  prepend(older: readonly Message[]): void {
    const later = this.#messages;
    this.#messages = new Map();
    for (const message of older) {
      if (later.has(message.id)) continue;
      // A note that was heard before its message came may be told a second time with it.
      const told = new Set(message.notes.map(({ id }) => id));
      const placed = this.#placed(message.id).filter(({ id }) => !told.has(id));
      this.#messages.set(message.id, { ...message, notes: [...message.notes, ...placed] });
    }
    for (const message of later.values()) this.#messages.set(message.id, message);
    // Only the older one may know what took its place.
    for (const { id, supersededBy } of older) {
      const branch = supersededBy === undefined ? undefined : this.#messages.get(supersededBy);
      if (branch && branch.supersedes === undefined) this.#change(branch.id, { supersedes: id });
    }
    this.#shown = undefined;
  }

  /** Take the next durable stanza. */
  apply(envelope: Envelope): void {
    this.#shown = undefined;
    if (isErased(envelope)) this.#bury(envelope.type, envelope.body.id);
    else this.#applyLive(envelope);
  }

  #applyLive(envelope: LiveEnvelope): void {
    switch (envelope.type) {
      case Type.UserMessage:
        return this.#applyQuestion(envelope.body, at(envelope));
      case Type.StartAnswer:
        return this.#begin(envelope.body, at(envelope));
      case Type.AssistantMessage: {
        const { id, content, status } = envelope.body;
        if (!this.#messages.has(id)) this.#begin(envelope.body, at(envelope));
        return this.#change(id, { text: content, status });
      }
      case Type.AssistantSentence: {
        const { previousId: id, text, isFinal, status } = envelope.body;
        const message = this.#messages.get(id);
        if (!message || message.sentences.some((each) => each.id === envelope.body.id)) return;
        const sentences = [...message.sentences, { id: envelope.body.id, text }];
        return this.#change(id, {
          sentences,
          text: message.text + text,
          ...(isFinal && { status: status ?? "completed" }),
        });
      }
      case Type.ReasoningStep: {
        const { messageId: id, content } = envelope.body;
        return this.#change(id, { reasoning: (this.#messages.get(id)?.reasoning ?? "") + content });
      }
      case Type.ToolUseRequest: {
        const { messageId, id, toolName, parameters } = envelope.body;
        const tools = this.#messages.get(messageId)?.tools ?? [];
        return this.#change(messageId, { tools: [...tools, { id, name: toolName, parameters }] });
      }
      case Type.ToolUseResult:
        return this.#applyResult(envelope.body);
      case Type.MemoryTrace:
        return this.#applyTrace(envelope.body);
      case Type.UserNote:
        return this.#applyNote(envelope.body, false);
      case Type.AudioChunk:
        return this.#applySound(envelope.body);
      case Type.ControlStop:
        if (envelope.body.reason === "interrupted") this.#change(envelope.body.targetId, { interrupted: true });
        return;
      case Type.ControlVariation:
        return this.#applyVariation(envelope.body, "sent");
      case Type.Erasure:
        return this.#remove(new Set(envelope.body.ids));
    }
  }

  /** Show what waits in the outbox; `refused` says why it will not be sent. */
  expect({ key, type, body }: Outgoing, refused?: string): void {
    this.#shown = undefined;
    const status = refused === undefined ? "queued" : "refused";
    if (type === Type.UserMessage) this.#applyQuestion(body, undefined, status);
    else if (type === Type.ControlVariation) this.#applyVariation(body, status);
    else if (type === Type.UserNote) return this.#applyNote(body, true);
    else return;
    this.#change(body.id, { key, ...(refused !== undefined && { failure: refused }) });
  }

  /** The outbox has let go of this: the agent has it, even if its echo is still on the way. */
  confirm({ type, body }: Outgoing): void {
    const sent = type === Type.UserMessage || type === Type.ControlVariation ? this.#messages.get(body.id) : undefined;
    if (sent?.status === "queued") this.#change(sent.id, { status: sent.role === "user" ? "sent" : "waiting", key: undefined });
  }

  /** Take back what never was sent. */
  forget(id: string): void {
    this.#messages.delete(id);
    this.#shown = undefined;
  }

  /** Say why an answer, or a message, failed. */
  fail(id: string, failure: string): void {
    this.#change(id, { failure });
  }

  #applyQuestion(body: Bodies[2], sentAt: number | undefined, status: Message["status"] = "sent"): void {
    if (status !== "sent" && this.#messages.get(body.id)?.status === "sent") return;
    if (body.localId) this.#messages.delete(body.localId);
    const { id, content: text, previousId, supersedes, audioId } = body;
    const notes = this.#messages.get(id)?.notes ?? this.#placed(id);
    // Once it is in the log it stands where the log has it, not where it was written.
    if (status === "sent") this.#messages.delete(id);
    const time = sentAt ?? (body.timestamp ? Date.parse(body.timestamp) : undefined);
    this.#put({ ...blank(id, "user", status), text, previousId, supersedes, notes, time, audioId });
  }

  #begin(body: Bodies[13] | Bodies[3], time: number | undefined): void {
    const { id, previousId } = body;
    const supersedes = "supersedes" in body ? body.supersedes : undefined;
    this.#put({ ...blank(id, "assistant", "streaming"), previousId, supersedes, time, notes: this.#placed(id) });
  }

  /** A branch that is asked for is shown at once; its first stanza takes its place. */
  #applyVariation({ id, targetId, mode, content }: Bodies[11], status: "sent" | "queued" | "refused"): void {
    const target = this.#messages.get(targetId);
    const known = this.#messages.get(id);
    if (!target || (known && known.status !== "queued" && known.status !== "refused")) return;
    const role = mode === "edit" ? "user" : "assistant";
    const waiting = role === "assistant" && status === "sent" ? "waiting" : status;
    const branch = { ...blank(id, role, waiting), text: content ?? "", previousId: target.previousId, supersedes: targetId };
    this.#put(branch);
    this.#chosen.delete(rootOf(this.#messages, id));
  }

  #applyResult({ requestId, success, result, errorMessage, truncated }: Bodies[7]): void {
    for (const { id, tools } of this.#messages.values()) {
      if (!tools.some((tool) => tool.id === requestId)) continue;
      const outcome = { success, result: success ? result : errorMessage, truncated: truncated === true };
      return this.#change(id, { tools: tools.map((tool) => (tool.id === requestId ? { ...tool, outcome } : tool)) });
    }
  }

  #applyTrace(body: MemoryTrace): void {
    const named = body.metadata?.["answerId"];
    const last = [...this.#messages.values()].findLast((each) => each.previousId === body.previousId && each.role === "assistant");
    const id = typeof named === "string" ? named : last?.id;
    const message = id === undefined ? undefined : this.#messages.get(id);
    if (message) this.#change(message.id, { memories: [...message.memories, body] });
  }

  #applySound({ id, durationMs }: Bodies[10]): void {
    const messages = [...this.#messages.values()];
    const spoken = messages.findLast(({ sentences, audioId }) => audioId === id || sentences.some((each) => each.id === id));
    if (!spoken) return;
    if (spoken.audioId === id) return this.#change(spoken.id, { recorded: true });
    const sentences = spoken.sentences.map((each) => (each.id === id ? { ...each, durationMs } : each));
    this.#change(spoken.id, { sentences });
  }

  #applyNote({ id, messageId, content }: Bodies[15], waiting: boolean): void {
    if (messageId === undefined) return;
    const note: Note = { id, content, waiting };
    const message = this.#messages.get(messageId);
    const others = (notes: readonly Note[]) => notes.filter((each) => each.id !== id);
    if (!message) this.#unplaced.set(messageId, [...others(this.#unplaced.get(messageId) ?? []), note]);
    else if (!(waiting && message.notes.some((each) => each.id === id))) {
      const place = message.notes.findIndex((each) => each.id === id);
      const notes = place < 0 ? [...message.notes, note] : message.notes.with(place, note);
      this.#change(messageId, { notes });
    }
  }

  #placed(id: string): Note[] {
    const notes = this.#unplaced.get(id) ?? [];
    this.#unplaced.delete(id);
    return notes;
  }

  #bury(type: TypeCode, id: string): void {
    const role = type === Type.UserMessage ? "user" : type === Type.StartAnswer ? "assistant" : undefined;
    if (role && !this.#messages.has(id)) this.#put({ ...blank(id, role, "completed"), erased: true });
    else this.#remove(new Set([id]));
  }

  #remove(ids: ReadonlySet<string>): void {
    for (const message of this.#messages.values()) {
      const left = without(message, ids);
      if (left !== message) this.#put(left);
    }
  }

  #put(message: Message): void {
    this.#messages.set(message.id, message);
    this.#shown = undefined;
  }

  #change(id: string, change: Change): void {
    const message = this.#messages.get(id);
    if (message) this.#put({ ...message, ...change });
  }
}

function rootOf(messages: ReadonlyMap<string, Message>, id: string): string {
  let root = id;
  for (let next = messages.get(id)?.supersedes; next !== undefined; next = messages.get(next)?.supersedes) root = next;
  return root;
}

function at(envelope: LiveEnvelope): number | undefined {
  const time = envelope.meta?.["timestamp"];
  const known = typeof time === "string" ? Date.parse(time) : Number(time ?? NaN);
  return Number.isFinite(known) ? known : undefined;
}
