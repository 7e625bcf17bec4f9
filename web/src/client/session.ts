import { isDurable, isErased } from "../protocol/envelope";
import {
  type Acknowledgement,
  type Bodies,
  type Configuration,
  type ConversationId,
  type Envelope,
  ErrorCode,
  type ErrorMessage,
  type LiveEnvelope,
  Type,
  type Value,
} from "../protocol/messages";

const INT32_MAX = 2 ** 31 - 1;

/** What became of an envelope that the client received. */
export type Receipt =
  /** The next durable stanza: append it to the log. */
  | "accepted"
  /** A durable stanza that the log holds already: drop it. */
  | "duplicate"
  /** Something before it is missing: drop it; `wantsConfiguration` says when to ask. */
  | "gap"
  /** Not part of the log; its body may be of interest. */
  | "transient"
  /** The agent does not know the client's log: empty it, the whole log follows. */
  | "restarted"
  /** Not the agent's, or of another conversation: drop it. */
  | "stray";

type SentType = 2 | 4 | 7 | 11 | 15;

/** A body on its way to the agent. `key` is the caller's name for it. */
export type Outgoing = {
  [T in SentType]: { key: number; type: T; body: Bodies[T]; meta?: { [key: string]: Value } };
}[SentType];

/**
 * One device's end of a conversation: the cursor into the agent's log, and the outbox. No I/O, no clock.
 *
 * `cursor` is the last durable agent stanza that the log holds; undefined starts at the head, 0 asks for everything.
 * An empty `conversationId` opens a new conversation; the agent's Configuration fills it in. The caller sends what
 * `configuration` gives after every join and reconnect and whenever `wantsConfiguration` is set, again if no answer
 * comes; and after every step what `nextToSend` gives.
 */
export class ClientSession {
  wantsConfiguration = true;
  clock: number;
  #asked = false;
  #outbox: Outgoing[] = [];
  #inFlight: LiveEnvelope | undefined;
  #sent = false;

  constructor(
    public conversationId: ConversationId | "" = "",
    public cursor?: number,
  ) {
    this.clock = Math.abs(cursor ?? 0);
  }

  /** What the agent has not confirmed yet, oldest first. */
  get outbox(): readonly Outgoing[] {
    return this.#outbox;
  }

  /** The Configuration to send now, with the cursor. */
  configuration(settings: Configuration = {}): Envelope {
    this.wantsConfiguration = false;
    this.#asked = true;
    this.#sent = false;
    const { conversationId, cursor } = this;
    const body: Configuration = {
      ...settings,
      conversationId,
      ...(cursor !== undefined && { lastSequenceSeen: cursor }),
    };
    return { type: Type.Configuration, stanzaId: this.#tick(), conversationId, body };
  }

  /** Put a body into the outbox; it stays there until the agent confirms or refuses it. */
  submit(outgoing: Outgoing): void {
    this.#outbox.push(outgoing);
  }

  /** Take back a body that has not been sent yet; false if it is too late. */
  withdraw(key: number): boolean {
    const place = this.#outbox.findIndex((each) => each.key === key);
    if (place < 0 || (place === 0 && this.#inFlight !== undefined)) return false;
    this.#outbox.splice(place, 1);
    return true;
  }

  /** The body in flight, if it has to be sent now; undefined while it waits for its acknowledgement. */
  nextToSend(): Envelope | undefined {
    const [first] = this.#outbox;
    if (this.#sent || !first || !this.conversationId) return undefined;
    this.#inFlight ??= this.#stamp(first);
    this.#sent = true;
    return this.#inFlight;
  }

  /** Send the body in flight again, because its answer is overdue or said to try later. */
  resend(): void {
    this.#sent = false;
  }

  /** Take an envelope of the agent's; only accepted ones belong into the log. */
  receive(envelope: Envelope): Receipt {
    if (envelope.stanzaId > 0 || !envelope.conversationId) return "stray";
    this.conversationId ||= envelope.conversationId;
    if (envelope.conversationId !== this.conversationId) return "stray";
    this.#observe(envelope.stanzaId);
    if (isDurable(envelope)) {
      this.#hearEcho(envelope);
      return this.#follow(envelope.stanzaId, envelope.previousStanzaId);
    }
    if (isErased(envelope)) return "stray";
    if (envelope.type === Type.Configuration) return this.#hearConfiguration(envelope.body);
    if (envelope.type === Type.Acknowledgement) return this.#hearAcknowledgement(envelope.body);
    if (envelope.type === Type.ErrorMessage) this.#hearError(envelope.body);
    return "transient";
  }

  /** Pass over a stanza that can't be read, so that it cannot stop the log. */
  skip(stanzaId: number | undefined, previousStanzaId: number | undefined): Receipt {
    if (stanzaId === undefined || previousStanzaId === undefined) return "transient";
    this.#observe(stanzaId);
    return this.#follow(stanzaId, previousStanzaId);
  }

  #follow(stanzaId: number, previous: number): Receipt {
    if (previous === this.cursor) {
      this.cursor = stanzaId;
      return "accepted";
    }
    if (this.cursor !== undefined && stanzaId >= this.cursor) return "duplicate";
    // While an answer is on its way, stanzas that were sent before it are no reason to ask again.
    this.wantsConfiguration ||= !this.#asked;
    return "gap";
  }

  #hearConfiguration(body: Configuration): Receipt {
    const head = body.lastServerStanzaId ?? 0;
    this.#observe(head);
    this.#observe(body.lastClientStanzaId ?? 0);
    const asked = this.#asked;
    this.#asked = false;
    if (this.cursor === undefined) this.cursor = head;
    else if (body.resumed === false && asked && this.cursor !== 0) {
      this.cursor = 0;
      return "restarted";
    }
    return "transient";
  }

  #hearAcknowledgement(body: Acknowledgement): Receipt {
    const sent = this.#inFlight;
    const ours = sent?.stanzaId === body.acknowledgedStanzaId;
    if (sent && ours && (body.id === undefined || body.id === subject(sent.body))) this.#settle();
    if (this.cursor === undefined || body.lastServerStanzaId < this.cursor) {
      this.wantsConfiguration = true;
      return "gap";
    }
    return "transient";
  }

  #hearError(body: ErrorMessage): void {
    this.#observe((body.nextStanzaId ?? 1) - 1);
    if (!this.#inFlight || body.originatingStanzaId !== this.#inFlight.stanzaId) return;
    if (body.code === ErrorCode.Stanza) {
      this.#inFlight = undefined;
      this.#sent = false;
    } else if (body.code < ErrorCode.TooMany) {
      // It will never be taken; in the outbox it would only bar the way for the others.
      this.#settle();
    }
  }

  #hearEcho(envelope: Envelope): void {
    const [sent] = this.#outbox;
    if (sent && isEchoOf(envelope, sent)) this.#settle();
  }

  #settle(): void {
    this.#outbox.shift();
    this.#inFlight = undefined;
    this.#sent = false;
  }

  #stamp({ type, body, meta }: Outgoing): LiveEnvelope {
    const { conversationId } = this;
    const stamped = { ...body, conversationId };
    return { type, stanzaId: this.#tick(), conversationId, ...(meta && { meta }), body: stamped } as LiveEnvelope;
  }

  #tick(): number {
    if (this.clock >= INT32_MAX) throw new RangeError("This conversation is full. Please go on in a new one.");
    this.clock += 1;
    return this.clock;
  }

  #observe(stanzaId: number): void {
    this.clock = Math.max(this.clock, Math.abs(stanzaId));
  }
}

/** The id that a body is about: its own, or else its request's or its target's. */
export function subject(body: object): unknown {
  const named = body as { id?: unknown; requestId?: unknown; targetId?: unknown };
  return named.id ?? named.requestId ?? named.targetId;
}

/** Whether the agent's envelope repeats what a client sent. */
export function isEchoOf(envelope: Envelope, sent: Outgoing): boolean {
  if (isErased(envelope)) return envelope.type === sent.type && envelope.body.id === subject(sent.body);
  const renamed = envelope.type === Type.UserMessage && envelope.body.localId === subject(sent.body);
  return renamed || (envelope.type === sent.type && sameIdentity(envelope.body, sent.body));
}

function sameIdentity(one: object, other: object): boolean {
  const fields = ["stopType", "reason", "sequence"] as const;
  return (
    subject(one) === subject(other) && fields.every((field) => Reflect.get(one, field) === Reflect.get(other, field))
  );
}
