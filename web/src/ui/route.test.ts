import { expect, it } from "vitest";

import { parse } from "./route";

const ID = "a".repeat(21);

it("an address names a conversation, one of its messages, or a view", () => {
  expect(parse("")).toEqual({ place: "conversation", id: undefined, messageId: undefined });
  expect(parse(`#ac_${ID}`)).toMatchObject({ place: "conversation", id: `ac_${ID}` });
  expect(parse(`#ac_${ID}/am_${ID}`)).toMatchObject({ id: `ac_${ID}`, messageId: `am_${ID}` });
  expect(parse(`#draft_${ID}`)).toMatchObject({ id: `draft_${ID}` });
  expect(parse("#memory")).toEqual({ place: "memory", id: undefined });
  expect(parse(`#memory/amem_${ID}`)).toEqual({ place: "memory", id: `amem_${ID}` });
  expect(parse("#settings")).toEqual({ place: "settings" });
});

it("what nobody made is a new conversation", () => {
  for (const hash of ["#", "#ac_short", `#ac_${ID}/x`, "#memory/x", "#settings/x", "#javascript:alert(1)"]) {
    expect(parse(hash)).toEqual({ place: "conversation", id: undefined, messageId: undefined });
  }
});
