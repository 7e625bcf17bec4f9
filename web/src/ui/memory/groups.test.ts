import { expect, it } from "vitest";

import type { Memory } from "../../client/memories";
import { byType, originOf } from "./groups";

function memory(id: string, rest: Partial<Memory> = {}): Memory {
  return {
    id,
    content: id,
    importance: 0.5,
    confidence: 1,
    userRating: null,
    sourceType: null,
    sourceInfo: {},
    tags: [],
    pinned: false,
    archived: false,
    memoryType: null,
    createdAt: "2026-11-16T00:00:00Z",
    ...rest,
  };
}

it("memories are grouped by type, pinned ones first, and those without a type last", () => {
  const groups = byType([
    memory("a"),
    memory("b", { memoryType: "preference" }),
    memory("c", { memoryType: "preference", pinned: true }),
    memory("d", { memoryType: "favourite_colour" }),
  ]);
  expect(groups.map(([name, group]) => [name, group.map(({ id }) => id)])).toEqual([
    ["Favourite colour", ["d"]],
    ["Preferences", ["c", "b"]],
    ["Other", ["a"]],
  ]);
});

it("a memory leads to where it came from", () => {
  expect(originOf(memory("a", { sourceInfo: { conversationId: "ac_1", messageId: "am_1" } })).address).toBe("ac_1/am_1");
  expect(originOf(memory("a", { sourceInfo: { document: "town.pdf" } })).words).toContain("“town.pdf”");
  expect(originOf(memory("a")).address).toBeUndefined();
});
