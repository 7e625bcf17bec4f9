import { expect, it } from "vitest";

import { fileName } from "./markdown";
import { marked } from "./search";

it("marks the words of a query, also in other forms", () => {
  expect(marked("We walked to the garden gate.", "walking gardens")).toEqual(["We ", "walked", " to the ", "garden", " gate."]);
});

it("marks nothing inside of words, and nothing for signs", () => {
  expect(marked("a start", "art")).toEqual(["a start"]);
  expect(marked("(1 + 1)", "+ (")).toEqual(["(1 + 1)"]);
});

it("a title becomes a file's name", () => {
  expect(fileName("What’s up, Łukasz?")).toBe("What-s-up-Łukasz.md");
  expect(fileName("???")).toBe("conversation.md");
});
