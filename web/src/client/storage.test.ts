import "fake-indexeddb/auto";

import { beforeEach, expect, it } from "vitest";

import { Type } from "../protocol/messages";
import { openDatabase } from "./database";
import { Log } from "./log";
import { Outbox } from "./outbox";
import { Agent, am, C, question } from "./testing";

let database: IDBDatabase;
let round = 0;

beforeEach(async () => {
  round += 1;
  database = await openDatabase(`test-${round}`);
});

const without = ({ key: _, ...rest }: ReturnType<typeof question>) => rest;

it("what is written waits in its conversation, oldest first, and outlives the page", async () => {
  const first = new Outbox(database);
  await first.add(C, without(question(0, "one")));
  await first.add(C, without(question(0, "two")));
  await first.add("draft_x", without(question(0, "else")));
  const later = new Outbox(database);
  expect((await later.of(C)).map((each) => "id" in each.body && each.body.id)).toEqual([am("one"), am("two")]);
  expect((await later.waiting()).sort()).toEqual([C, "draft_x"]);
});

it("what is confirmed is gone, and what is refused stays but waits no more", async () => {
  const outbox = new Outbox(database);
  const one = await outbox.add(C, without(question(0, "one")));
  const two = await outbox.add(C, without(question(0, "two")));
  await outbox.remove(one);
  await outbox.refuse(two, "too long");
  expect(await outbox.of(C)).toMatchObject([{ key: two, refused: "too long" }]);
  expect(await outbox.waiting()).toEqual([]);
});

it("a draft's words move along when the conversation gets its id", async () => {
  const outbox = new Outbox(database);
  const key = await outbox.add("draft_x", without(question(0, "one")));
  await outbox.move("draft_x", C);
  expect(await outbox.of("draft_x")).toEqual([]);
  expect(await outbox.of(C)).toMatchObject([{ key }]);
});

it("the log gives back what it was given", async () => {
  const agent = new Agent();
  const said = [agent.asks("q", "Well?"), agent.starts("a", "q"), agent.sentence("a", 1, "Yes.", "completed")];
  const log = new Log(database, C);
  said.forEach((each) => log.append(each));
  await log.settled();
  expect((await new Log(database, C).read()).envelopes).toEqual(said);
});

it("the log ends before a gap", async () => {
  const agent = new Agent();
  const [first, , third] = [agent.asks("q", "Well?"), agent.starts("a", "q"), agent.sentence("a", 1, "Yes.")];
  const log = new Log(database, C);
  if (first) log.append(first);
  if (third) log.append(third);
  await log.settled();
  expect((await log.read()).envelopes).toEqual([first]);
});

it("what is erased is gone from the browser too", async () => {
  const agent = new Agent();
  const log = new Log(database, C);
  log.append(agent.asks("q", "my secret"));
  log.append(agent.says(Type.Erasure, { ids: [am("q")] }));
  log.erase([am("q")]);
  await log.settled();
  const { envelopes: held } = await log.read();
  expect(held).toHaveLength(2);
  expect(JSON.stringify(held)).not.toContain("secret");
});

it("a log that is told anew begins empty", async () => {
  const agent = new Agent();
  const log = new Log(database, C);
  log.append(agent.asks("q", "Well?"));
  log.clear();
  await log.settled();
  expect(await log.read()).toEqual({ base: undefined, envelopes: [], cursor: 0 });
});
