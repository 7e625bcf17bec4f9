import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Link } from "./link";
import { NoMicrophone, type Sound, type Trouble } from "./microphone";
import { Voice } from "./voice";

type Track = MediaStreamTrack & { onended: (() => void) | null };

function track(id: string): Track {
  return { id, enabled: true, onended: null, stop: vi.fn(), getSettings: () => ({ deviceId: id }) } as unknown as Track;
}

/** A browser with two microphones, and a room in which the agent may speak. */
class Around implements Sound {
  trouble: Trouble | undefined;
  captured: Track[] = [];
  loud = 0;
  played: MediaStreamTrack[] = [];
  published: MediaStreamTrack[] = [];
  hear: (track: MediaStreamTrack | undefined) => void = () => undefined;

  async capture(deviceId: string | undefined): Promise<MediaStreamTrack> {
    if (this.trouble) throw new NoMicrophone(this.trouble);
    const opened = track(deviceId ?? "built-in");
    this.captured.push(opened);
    return opened;
  }

  devices = async () => [
    { id: "built-in", label: "Built-in" },
    { id: "headset", label: "Headset" },
  ];
  watch = () => () => undefined;
  meter = () => ({ level: () => this.loud, close: () => undefined });
  play = (heard: MediaStreamTrack) => {
    this.played.push(heard);
    return () => void this.played.splice(this.played.indexOf(heard), 1);
  };
  link = {
    publish: async (sent: MediaStreamTrack) => {
      this.published.push(sent);
      return async () => void this.published.splice(this.published.indexOf(sent), 1);
    },
    listen: (hear: Around["hear"]) => {
      this.hear = hear;
      return () => void (this.hear = () => undefined);
    },
  } as unknown as Link;
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const settle = () => vi.advanceTimersByTimeAsync(0);

it("the microphone goes to the agent, and ends when voice is switched off", async () => {
  const around = new Around();
  const voice = new Voice(around);
  voice.join(around.link);
  expect(await voice.start()).toBe(true);
  expect(voice.view()).toMatchObject({ state: "on", muted: false, deviceId: "built-in", devices: [{ id: "built-in" }, { id: "headset" }] });
  expect(around.published).toEqual(around.captured);
  voice.stop();
  await settle();
  expect(around.published).toEqual([]);
  expect(around.captured[0]?.stop).toHaveBeenCalled();
  expect(voice.view()).toEqual({ state: "off" });
});

it("whoever is muted sends silence and no level", async () => {
  const around = new Around();
  const voice = new Voice(around);
  await voice.start();
  around.loud = 0.6;
  expect(voice.levels().mine).toBe(0.6);
  voice.mute(true);
  expect(around.captured[0]?.enabled).toBe(false);
  expect(voice.levels().mine).toBe(0);
  expect(voice.view()).toMatchObject({ muted: true });
});

it("another microphone takes the place of the first, also muted", async () => {
  const around = new Around();
  const voice = new Voice(around);
  voice.join(around.link);
  await voice.start();
  voice.mute(true);
  await voice.choose("headset");
  await settle();
  expect(around.captured.map(({ id }) => id)).toEqual(["built-in", "headset"]);
  expect(around.published.map(({ id }) => id)).toEqual(["headset"]);
  expect(around.captured[1]?.enabled).toBe(false);
  expect(voice.view()).toMatchObject({ deviceId: "headset", muted: true });
});

it("Alicia is heard, and seen to speak until she has been silent for a while", async () => {
  const around = new Around();
  const voice = new Voice(around);
  voice.join(around.link);
  await voice.start();
  around.hear(track("alicia"));
  expect(around.played).toHaveLength(1);
  around.loud = 0.5;
  await vi.advanceTimersByTimeAsync(150);
  expect(voice.view()).toMatchObject({ speaking: true });
  around.loud = 0;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(voice.view()).toMatchObject({ speaking: false });
  voice.leave();
  expect(around.played).toEqual([]);
  around.hear(track("alicia"));
  expect(around.played).toEqual([]);
});

it("who switches voice on anew does not see Alicia speak because she did before", async () => {
  const around = new Around();
  const voice = new Voice(around);
  voice.join(around.link);
  await voice.start();
  around.hear(track("alicia"));
  around.loud = 0.5;
  await vi.advanceTimersByTimeAsync(150);
  voice.stop();
  around.loud = 0;
  await voice.start();
  await vi.advanceTimersByTimeAsync(150);
  expect(voice.view()).toMatchObject({ state: "on", speaking: false });
});

it.each<Trouble>(["insecure", "refused", "missing", "busy"])("says when the microphone is %s, and can try again", async (trouble) => {
  const around = new Around();
  const voice = new Voice(around);
  around.trouble = trouble;
  expect(await voice.start()).toBe(false);
  expect(voice.view()).toEqual({ state: "trouble", trouble });
  around.trouble = undefined;
  expect(await voice.start()).toBe(true);
});

it("a microphone that is pulled out is missed", async () => {
  const around = new Around();
  const voice = new Voice(around);
  await voice.start();
  around.captured[0]?.onended?.();
  expect(voice.view()).toEqual({ state: "trouble", trouble: "missing" });
});

it("the next room hears the same microphone", async () => {
  const around = new Around();
  const voice = new Voice(around);
  await voice.start();
  voice.join(around.link);
  voice.leave();
  voice.join(around.link);
  await settle();
  expect(around.published).toHaveLength(2);
});
