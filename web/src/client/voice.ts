import type { Link } from "./link";
import { browserSound, type Device, type Meter, NoMicrophone, type Sound, type Trouble } from "./microphone";

/** What a view shows of the voice. A new object whenever something has changed. */
export type VoiceView =
  | { state: "off" }
  | { state: "starting" }
  | { state: "trouble"; trouble: Trouble }
  | {
      state: "on";
      muted: boolean;
      /** Alicia is to be heard at the moment. */
      speaking: boolean;
      devices: readonly Device[];
      deviceId: string | undefined;
    };

/** Whoever wants to speak and hear in a conversation's room, whichever room that is at the moment. */
export interface Speech {
  join(link: Link): void;
  leave(): void;
}

const LOOK = 100;
const LOUD = 0.25;
/** Between words there is silence, too. */
const PAUSE = 700;
const KEY = "alicia.microphone";

/** The microphone on its way to the agent, and the agent's voice on its way to the ear. */
export class Voice implements Speech {
  #view: VoiceView = { state: "off" };
  #listeners = new Set<() => void>();
  #link: Link | undefined;
  #unlisten: (() => void) | undefined;
  #microphone: { track: MediaStreamTrack; meter: Meter } | undefined;
  #published: Promise<(() => Promise<void>) | undefined> = Promise.resolve(undefined);
  #alicia: { meter: Meter; end: () => void } | undefined;
  #loudAt = -Infinity;
  #timer: ReturnType<typeof setInterval> | undefined;
  #unwatch: (() => void) | undefined;

  constructor(private readonly sound: Sound = browserSound) {}

  subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  view = (): VoiceView => this.#view;

  /** How loud the user and Alicia are at this moment, from 0 to 1. */
  levels(): { mine: number; hers: number } {
    const muted = this.#view.state === "on" && this.#view.muted;
    return { mine: muted ? 0 : (this.#microphone?.meter.level() ?? 0), hers: this.#alicia?.meter.level() ?? 0 };
  }

  /** Open the microphone. What stands in the way is in the view afterwards; true if nothing does. */
  async start(): Promise<boolean> {
    if (this.#view.state === "on" || this.#view.state === "starting") return true;
    this.#set({ state: "starting" });
    if (!(await this.#open(globalThis.localStorage?.getItem(KEY) ?? undefined))) return false;
    this.#unwatch = this.sound.watch(() => void this.#list());
    this.#timer = setInterval(() => this.#look(), LOOK);
    return true;
  }

  /** Speak and hear no more. */
  stop(): void {
    this.#close();
    this.#set({ state: "off" });
  }

  mute(muted: boolean): void {
    if (this.#view.state !== "on" || !this.#microphone) return;
    this.#microphone.track.enabled = !muted;
    this.#set({ ...this.#view, muted });
  }

  /** Take another microphone, now and next time. */
  async choose(deviceId: string): Promise<void> {
    globalThis.localStorage?.setItem(KEY, deviceId);
    if (this.#view.state === "on") await this.#open(deviceId);
  }

  join(link: Link): void {
    this.#link = link;
    this.#unlisten = link.listen((track) => this.#hear(track));
    this.#publish();
  }

  leave(): void {
    this.#unlisten?.();
    this.#link = this.#unlisten = undefined;
    this.#published = Promise.resolve(undefined);
    this.#hear(undefined);
  }

  async #open(deviceId: string | undefined): Promise<boolean> {
    try {
      const track = await this.sound.capture(deviceId);
      // It may have been switched off while the browser was asking.
      if (this.#view.state === "off") {
        track.stop();
        return false;
      }
      const muted = this.#view.state === "on" && this.#view.muted;
      this.#release();
      track.enabled = !muted;
      track.onended = () => this.#fail("missing");
      this.#microphone = { track, meter: this.sound.meter(track) };
      this.#set({ state: "on", muted, speaking: false, devices: [], deviceId: track.getSettings().deviceId });
      this.#publish();
      await this.#list();
      return true;
    } catch (error) {
      if (!(error instanceof NoMicrophone)) throw error;
      this.#fail(error.trouble);
      return false;
    }
  }

  #fail(trouble: Trouble): void {
    this.#close();
    this.#set({ state: "trouble", trouble });
  }

  #close(): void {
    clearInterval(this.#timer);
    this.#unwatch?.();
    this.#release();
    this.#hear(undefined);
  }

  #release(): void {
    const ending = this.#published;
    this.#published = Promise.resolve(undefined);
    void ending.then((end) => end?.());
    if (!this.#microphone) return;
    this.#microphone.track.onended = null;
    this.#microphone.track.stop();
    this.#microphone.meter.close();
    this.#microphone = undefined;
  }

  #publish(): void {
    const link = this.#link;
    const track = this.#microphone?.track;
    if (!link || !track) return;
    this.#published = link.publish(track).catch((error: unknown) => {
      console.info("microphone not published", error);
      return undefined;
    });
  }

  #hear(track: MediaStreamTrack | undefined): void {
    this.#loudAt = -Infinity;
    this.#alicia?.end();
    this.#alicia?.meter.close();
    this.#alicia = track && { meter: this.sound.meter(track), end: this.sound.play(track) };
  }

  async #list(): Promise<void> {
    const devices = await this.sound.devices();
    if (this.#view.state === "on") this.#set({ ...this.#view, devices });
  }

  #look(): void {
    if (this.#view.state !== "on") return;
    const now = performance.now();
    if ((this.#alicia?.meter.level() ?? 0) > LOUD) this.#loudAt = now;
    const speaking = now - this.#loudAt < PAUSE;
    if (speaking !== this.#view.speaking) this.#set({ ...this.#view, speaking });
  }

  #set(view: VoiceView): void {
    this.#view = view;
    for (const listener of this.#listeners) listener();
  }
}
