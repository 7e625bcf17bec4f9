import { expect, it } from "vitest";

import { askHealth } from "./health";

const { signal } = new AbortController();

it.each([
  [200, "well"],
  [503, "unwell"],
])("an answer of %i means that the server is %s", async (status, health) => {
  expect(await askHealth(signal, async () => new Response(null, { status }))).toBe(health);
});

it("no answer means that the server is silent", async () => {
  expect(await askHealth(signal, () => Promise.reject(new TypeError("refused")))).toBe("silent");
});
