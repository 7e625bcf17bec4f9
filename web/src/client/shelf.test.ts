import { expect, it } from "vitest";

import { merge } from "./shelf";

const ids = (...given: Parameters<typeof merge>) => merge(...given).map(({ id }) => id);

it("the server's titles and this browser's first words make one list, newest first", () => {
  const local = [
    { id: "ac_a", preview: "First words", updatedAt: 1 },
    { id: "ac_b", title: "Kept", updatedAt: 2 },
  ];
  const remote = [{ id: "ac_a", title: "A title", updatedAt: "1970-01-01T00:00:05", lastServerStanzaId: -3 }];
  expect(merge(local, remote)).toEqual([
    { id: "ac_a", title: "A title", preview: "First words", updatedAt: 5_000, status: "active" },
    { id: "ac_b", title: "Kept", preview: undefined, updatedAt: 2, status: "active" },
  ]);
});

it("a conversation in which nothing was said is not listed, whoever knows of it", () => {
  expect(ids([{ id: "ac_a", updatedAt: 1 }], [])).toEqual([]);
  expect(ids([{ id: "ac_a", updatedAt: 1 }], [{ id: "ac_a", title: "", lastServerStanzaId: 0 }])).toEqual([]);
});

it("what was written and has not reached the server is listed, and so is what was said elsewhere", () => {
  expect(ids([{ id: "ac_a", preview: "Unsent", updatedAt: 1 }], [{ id: "ac_a", lastServerStanzaId: 0 }])).toEqual(["ac_a"]);
  expect(ids([], [{ id: "ac_b", title: "", lastServerStanzaId: -2 }])).toEqual(["ac_b"]);
});

it("what was deleted, here or there, and a draft that has its name are not listed", () => {
  const local = [
    { id: "ac_a", preview: "a", status: "deleted" as const },
    { id: "draft_b", preview: "b", becameId: "ac_b" },
    { id: "ac_c", preview: "c" },
  ];
  expect(ids(local, [{ id: "ac_c", status: "deleted" }])).toEqual([]);
});
