import { expect, it } from "vitest";

import { followed } from "./preferences";

const DEFAULTS = { memory: true, recording: true, voice: null, speed: 1, language: null };

it("a conversation that has what the settings say is left alone", () => {
  expect(followed({}, DEFAULTS)).toBeUndefined();
  expect(followed({ timeZone: "UTC", speed: 1.5 }, { ...DEFAULTS, speed: 1.5 })).toBeUndefined();
});

it("a conversation follows the settings and keeps what is its own", () => {
  expect(followed({ timeZone: "UTC", voice: "old" }, { ...DEFAULTS, recording: false })).toEqual({ timeZone: "UTC", recording: false });
});

it("while the settings are not known nothing is changed", () => {
  expect(followed({ voice: "heart" }, undefined)).toBeUndefined();
});
