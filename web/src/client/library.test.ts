import "fake-indexeddb/auto";

import { expect, it } from "vitest";

import { openDatabase } from "./database";
import { Library } from "./library";
import { C } from "./testing";

it("a draft that gets its id is listed once, under one name or the other", async () => {
  const library = new Library(await openDatabase("library"));
  await library.know({ id: "draft_x", preview: "First words" });
  const lists: string[][] = [];
  library.subscribe(() => lists.push(library.list().map(({ id }) => id)));
  await library.rename("draft_x", C);
  expect(lists).toEqual(lists.map(() => [C]));
  expect(library.list()).toMatchObject([{ id: C, preview: "First words" }]);
  expect(library.real("draft_x")).toBe(C);
});
