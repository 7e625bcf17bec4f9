import { expect, it } from "vitest";

import { byAge } from "./sidebar/ages";
import { statusOf } from "./status";

it("says nothing while all is well", () => {
  expect(statusOf({ state: "online" }, true, true, 0)).toBeUndefined();
  expect(statusOf({ state: "idle" }, undefined, true, 0)).toBeUndefined();
});

it.each([
  [{ state: "idle" }, false, true, "does not answer"],
  [{ state: "away", missing: "server" }, true, true, "does not answer"],
  [{ state: "away", missing: "link" }, true, false, "offline"],
  [{ state: "away", missing: "agent" }, true, true, "not in the room"],
  [{ state: "refused", status: 404, reason: "" }, true, true, "not on the server"],
  [{ state: "refused", status: 401, reason: "" }, true, true, "sign in"],
] as const)("says what is missing: %o", (connection, reachable, online, words) => {
  expect(statusOf(connection, reachable, online, 0)?.what).toContain(words);
});

it("promises that what was written will be sent", () => {
  expect(statusOf({ state: "away", missing: "server" }, false, true, 2)?.then).toContain("will be sent");
});

it("groups by how long ago", () => {
  const now = new Date(2026, 5, 15, 12);
  const days = (count: number) => ({ updatedAt: now.getTime() - count * 86_400_000 });
  expect(byAge([days(0), days(1), days(3), days(30)], now).map(([age]) => age)).toEqual([
    "Today",
    "Yesterday",
    "The last seven days",
    "Earlier",
  ]);
});
