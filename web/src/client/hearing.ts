import type { Transcription } from "../protocol/messages";

/** What the agent understands while somebody speaks. */
export interface Heard {
  readonly id: string;
  readonly text: string;
  /** It will not change any more. */
  readonly final: boolean;
}

const PATIENCE = 6_000;

/** Follows what is being said until it has become a message, or nothing came of it. */
export class Hearing {
  current: Heard | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly changed: () => void) {}

  apply({ id, text, final }: Transcription): void {
    // What comes late about an utterance that is known must not make it uncertain again.
    if (this.current?.id === id && this.current.final) return;
    this.#set(text.trim() ? { id, text, final } : undefined);
    // Some sounds turn out to be no words, and nobody says so.
    if (this.current) this.#timer = setTimeout(() => this.clear(), PATIENCE);
  }

  /** This utterance is a message now; without an id, whatever there is. */
  clear(id?: string): void {
    if (!this.current || (id !== undefined && id !== this.current.id)) return;
    this.#set(undefined);
    this.changed();
  }

  #set(heard: Heard | undefined): void {
    clearTimeout(this.#timer);
    this.current = heard;
  }
}
