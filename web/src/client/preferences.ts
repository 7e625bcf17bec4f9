import { changeSettings, readSettings, type Settings } from "./settings";

/** The user's settings as this page knows them; the server has them, for all devices. */
export class Preferences {
  #settings: Settings | undefined;
  #listeners = new Set<() => void>();
  #asking: Promise<unknown> = Promise.resolve();

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Undefined until the server has told. */
  current = (): Settings | undefined => this.#settings;

  /** Ask the server: another device may have changed them. While it is away they stay as they are. */
  read(): Promise<void> {
    return this.#ask(() => readSettings(new AbortController().signal)).catch(() => undefined);
  }

  /** Throws Refused or Unavailable. */
  change(change: Partial<Settings>): Promise<void> {
    return this.#ask(() => changeSettings(change));
  }

  /** One question after the other: of two at once, the older settings might be told last. */
  #ask(question: () => Promise<Settings>): Promise<void> {
    const told = this.#asking.then(async () => this.#set(await question()));
    this.#asking = told.catch(() => undefined);
    return told;
  }

  #set(settings: Settings): void {
    this.#settings = settings;
    for (const listener of this.#listeners) listener();
  }
}
