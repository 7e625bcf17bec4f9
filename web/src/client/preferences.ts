import type { Value } from "../protocol/messages";
import { changeSettings, readSettings, type Settings } from "./settings";

/** The user's settings as this page knows them, and what a conversation has to be told of them. */
export class Preferences {
  #settings: Settings | undefined;
  #listeners = new Set<() => void>();
  #reading: Promise<void> | undefined;

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Undefined until the server has told. */
  current = (): Settings | undefined => this.#settings;

  /** Ask the server, unless it has told already; while it is away there are none. */
  read(): Promise<void> {
    this.#reading ??= readSettings(new AbortController().signal).then(
      (settings) => this.#set(settings),
      () => {
        this.#reading = undefined;
      },
    );
    return this.#reading;
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

export type Preferred = { [key: string]: Value };

/** What a conversation prefers once it follows the settings; undefined if it does already. */
export function followed(held: Preferred, settings: Settings | undefined): Preferred | undefined {
  if (!settings) return undefined;
  const { voice, speed, language, recording } = settings;
  const wanted: Preferred = {
    ...(voice !== null && { voice }),
    ...(speed !== 1 && { speed }),
    ...(language !== null && { language }),
    ...(!recording && { recording }),
  };
  const { voice: _voice, speed: _speed, language: _language, recording: _recording, ...others } = held;
  const next = { ...others, ...wanted };
  const same = KEYS.every((key) => held[key] === wanted[key]);
  return same ? undefined : next;
}

const KEYS = ["voice", "speed", "language", "recording"] as const;
