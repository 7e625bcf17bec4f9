import { expect, it, vi } from "vitest";

import { Player } from "./player";

function element() {
  return { src: "", onended: null, onerror: null, pause: vi.fn(), play: vi.fn(async () => undefined) } as unknown as HTMLAudioElement & {
    onended: () => void;
    onerror: () => void;
  };
}

it("plays sentences one after the other, and is silent at the end", () => {
  const audio = element();
  const player = new Player(() => audio);
  player.play(["ams_1", "ams_2"]);
  expect(audio.src).toBe("/api/v1/sentences/ams_1/audio");
  expect(player.now()).toBe("ams_1");
  audio.onended();
  expect(audio.src).toBe("/api/v1/sentences/ams_2/audio");
  audio.onended();
  expect(player.now()).toBeUndefined();
});

it("passes over what can't be read, and stops when told", () => {
  const audio = element();
  const player = new Player(() => audio);
  player.play(["ams_1", "aa_2", "ams_3"]);
  audio.onerror();
  expect(audio.src).toBe("/api/v1/audio/aa_2");
  player.stop();
  expect(player.now()).toBeUndefined();
  expect(audio.pause).toHaveBeenCalled();
});
