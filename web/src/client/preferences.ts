import { changeSettings, readSettings, type Settings } from "./settings";

/** The user's settings as this page knows them; the server has them, for all devices. */
export class Preferences {
  #settings: Settings | undefined;
  #listeners = new Set<() => void>();

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Undefined until the server has told. */
  current = (): Settings | undefined => this.#settings;

  /** Ask the server: another device may have changed them. While it is away they stay as they are. */
  async read(): Promise<void> {
    const settings = await readSettings(new AbortController().signal).catch(() => undefined);
    if (settings) this.#set(settings);
  }

  /** Throws Refused or Unavailable. */
  async change(change: Partial<Settings>): Promise<void> {
    this.#set(await changeSettings(change));
  }

  #set(settings: Settings): void {
    this.#settings = settings;
    for (const listener of this.#listeners) listener();
  }
}
