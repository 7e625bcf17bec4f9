import { afterEach, expect, it, vi } from "vitest";

import { Preferences } from "./preferences";

const DEFAULTS = { memory: true, recording: true, voice: null, speed: 1, language: null };

afterEach(() => vi.unstubAllGlobals());

const server = (...answers: (object | undefined)[]) =>
  vi.stubGlobal("fetch", () => {
    const answer = answers.shift();
    return answer ? Promise.resolve(Response.json(answer)) : Promise.reject(new TypeError("away"));
  });

it("what another device has changed is seen when it is asked for again", async () => {
  server(DEFAULTS, { ...DEFAULTS, speed: 1.5 });
  const preferences = new Preferences();
  const heard = vi.fn();
  preferences.subscribe(heard);
  await preferences.read();
  expect(preferences.current()).toEqual(DEFAULTS);
  await preferences.read();
  expect(preferences.current()?.speed).toBe(1.5);
  expect(heard).toHaveBeenCalledTimes(2);
});

it("while the server is away they stay as they were", async () => {
  server(DEFAULTS, undefined, undefined);
  const preferences = new Preferences();
  await preferences.read();
  await preferences.read();
  await expect(preferences.change({ speed: 2 })).rejects.toThrow("does not answer");
  expect(preferences.current()).toEqual(DEFAULTS);
});

it("of two changes at once the second is told last, however long the first one takes", async () => {
  const stored = { ...DEFAULTS };
  vi.stubGlobal("fetch", async (_: string, { body }: { body: string }) => {
    const told = Response.json(Object.assign(stored, JSON.parse(body)));
    if (stored.recording) await new Promise((resolve) => setTimeout(resolve, 20));
    return told;
  });
  const preferences = new Preferences();
  await Promise.all([preferences.change({ speed: 2 }), preferences.change({ recording: false })]);
  expect(preferences.current()).toEqual({ ...DEFAULTS, speed: 2, recording: false });
});
