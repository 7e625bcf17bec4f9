import { expect, it } from "vitest";

import { blank, type Shown } from "../../client/message";
import { chunked, filling } from "./chunks";

const messages = (from: number, to: number): Shown[] =>
  Array.from({ length: to - from }, (_, place) => ({ message: blank(`am_${from + place}`, "user", "sent"), variants: [] }));

const keys = (shown: Shown[]) => chunked(shown, "am_100").map(({ key }) => key);

it("every message is in one group, in order", () => {
  const shown = messages(83, 137);
  expect(chunked(shown, "am_100").flatMap(({ items }) => items)).toEqual(shown);
});

it("groups stay the same when messages are added at either end", () => {
  const before = keys(messages(94, 106));
  expect(keys(messages(94, 118)).slice(0, before.length)).toEqual(before);
  expect(keys(messages(82, 106)).slice(-before.length)).toEqual(before);
});

it("a group that is not full yet keeps its name while it fills", () => {
  expect(keys(messages(97, 102))).toEqual(["am_99", "am_100"]);
  expect(keys(messages(95, 104))).toEqual(["am_99", "am_100"]);
});

it("a conversation without the anchor is counted from its beginning", () => {
  expect(chunked(messages(0, 8), undefined).map(({ items }) => items.length)).toEqual([6, 2]);
});

it("what is drawn first fills the window and not much more", () => {
  const short = chunked(messages(0, 60), undefined);
  expect(filling(short, 1_000)).toBe(2);
  expect(filling(short, 1)).toBe(1);
  expect(filling(short.slice(0, 1), 5_000)).toBe(1);
  expect(filling([], 1_000)).toBe(0);
});
