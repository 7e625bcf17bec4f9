type Element = Pick<HTMLAudioElement, "src" | "play" | "pause" | "onended" | "onerror">;

/** Plays stored sounds one after the other; a new list takes the place of the one before. */
export class Player {
  /** What is to be heard at the moment. */
  current: string | undefined;
  #left: string[] = [];
  #element: Element | undefined;
  #listeners = new Set<() => void>();

  constructor(private readonly make: () => Element = () => new Audio()) {}

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  now = (): string | undefined => this.current;

  play(ids: readonly string[]): void {
    this.#left = [...ids];
    this.#next();
  }

  stop(): void {
    this.#left = [];
    this.#element?.pause();
    this.#set(undefined);
  }

  #next(): void {
    const id = this.#left.shift();
    if (id === undefined) return this.stop();
    const element = (this.#element ??= this.make());
    element.onended = () => this.#next();
    // What was erased or can't be read is passed over.
    element.onerror = () => this.#next();
    element.src = addressOf(id);
    this.#set(id);
    element.play().catch((error: unknown) => {
      // A new sound takes the place of this one: that is no failure.
      if (this.current === id && !(error instanceof DOMException && error.name === "AbortError")) this.stop();
    });
  }

  #set(current: string | undefined): void {
    this.current = current;
    for (const listener of this.#listeners) listener();
  }
}

export function addressOf(id: string): string {
  return id.startsWith("ams_") ? `/api/v1/sentences/${id}/audio` : `/api/v1/audio/${id}`;
}
