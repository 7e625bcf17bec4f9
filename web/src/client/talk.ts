import { isErased } from "../protocol/envelope";
import { type Envelope, Type } from "../protocol/messages";
import { type Heard, Hearing } from "./hearing";
import type { Link } from "./link";
import type { Receipt } from "./session";
import type { Speech } from "./voice";

/** The spoken side of a conversation: who speaks in its room, and what is understood of it. */
export class Talk {
  #speech: Speech | undefined;
  #link: Link | undefined;
  #hearing: Hearing;

  constructor(changed: () => void) {
    this.#hearing = new Hearing(changed);
  }

  /** Somebody wants to speak and to hear. */
  get wanted(): boolean {
    return this.#speech !== undefined;
  }

  get hearing(): Heard | undefined {
    return this.#hearing.current;
  }

  set(speech: Speech | undefined): void {
    if (this.#link) this.#speech?.leave();
    this.#speech = speech;
    if (this.#link) speech?.join(this.#link);
    if (!speech) this.#hearing.clear();
  }

  /** A room was joined, or left. */
  linked(link: Link | undefined): void {
    this.#link = link;
    if (link) this.#speech?.join(link);
    else this.#speech?.leave();
  }

  /** Take what the agent sent, if it is about speech. */
  hear(envelope: Envelope, receipt: Receipt): void {
    if (isErased(envelope) || (receipt !== "accepted" && receipt !== "transient")) return;
    if (envelope.type === Type.Transcription) this.#hearing.apply(envelope.body);
    if (envelope.type === Type.UserMessage && envelope.body.audioId) this.#hearing.clear(envelope.body.audioId);
  }
}
