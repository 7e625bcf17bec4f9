import "fake-indexeddb/auto";

import { beforeEach, expect, it } from "vitest";

import { Type } from "../protocol/messages";
import { Unavailable } from "./access";
import { openDatabase } from "./database";
import { blank, type Message } from "./message";
import { type Pages, Past } from "./past";
import { Agent, am, C } from "./testing";
import { Transcript } from "./transcript";

const { signal } = new AbortController();
let database: IDBDatabase;
let round = 0;

beforeEach(async () => {
  round += 1;
  database = await openDatabase(`past-${round}`);
});

const said = (name: string): Message => ({ ...blank(am(name), "user", "sent"), text: name });

/** A server with these pages, newest first. */
function server(...pages: Message[][]): Pages & { asked: number } {
  const left = [...pages];
  return {
    asked: 0,
    get ended() {
      return left.length === 0;
    },
    async older() {
      this.asked += 1;
      return { messages: left.shift() ?? [], head: -500 };
    },
  };
}

const texts = (transcript: Transcript) => transcript.shown.map(({ message }) => message.text);

it("a long conversation that was never seen opens with its newest page and goes on from there", async () => {
  const transcript = new Transcript();
  const pages = server([said("c"), said("d")], [said("a"), said("b")]);
  const past = new Past(database, C, transcript, () => pages);
  expect(await past.read(signal)).toBe(-500);
  expect(texts(transcript)).toEqual(["c", "d"]);
  expect(past.more).toBe(true);
  await past.older(signal);
  expect(texts(transcript)).toEqual(["a", "b", "c", "d"]);
  expect(past.more).toBe(false);
});

it("a short conversation is told whole by the agent", async () => {
  const transcript = new Transcript();
  const past = new Past(database, C, transcript, () => server([said("a")]));
  expect(await past.read(signal)).toBe(0);
  expect(texts(transcript)).toEqual([]);
  expect(past.more).toBe(false);
});

it("without a server nothing is lost but time", async () => {
  const away: Pages = { ended: false, older: () => Promise.reject(new Unavailable("away")) };
  expect(await new Past(database, C, new Transcript(), () => away).read(signal)).toBe(0);
});

it("what was seen opens without asking, and what came after it follows", async () => {
  const first = new Past(database, C, new Transcript(), () => server([said("b")], [said("a")]));
  await first.read(signal);
  const agent = new Agent();
  agent.head = -500;
  first.append(agent.asks("c", "c"));
  await first.settled();
  const transcript = new Transcript();
  const pages = server([said("b"), said("c")], [said("a")]);
  const later = new Past(database, C, transcript, () => pages);
  expect(await later.read(signal)).toBe(-501);
  expect(pages.asked).toBe(0);
  expect(texts(transcript)).toEqual(["b", "c"]);
  // The newest page is known already, so one step back means two questions.
  await later.older(signal);
  expect(pages.asked).toBe(2);
  expect(texts(transcript)).toEqual(["a", "b", "c"]);
});

it("many stanzas become few messages, and what is erased is gone from them too", async () => {
  const agent = new Agent();
  const first = new Past(database, C, new Transcript(), () => server([]));
  for (let turn = 0; turn < 400; turn += 1) {
    first.append(agent.asks(`q${turn}`, `question ${turn}`));
    first.append(agent.starts(`a${turn}`, `q${turn}`));
    first.append(agent.sentence(`a${turn}`, 1, `answer ${turn}`, "completed"));
  }
  await first.settled();
  const whole = new Transcript();
  const second = new Past(database, C, whole, () => server([]));
  expect(await second.read(signal)).toBe(-1_200);
  expect(whole.shown).toHaveLength(800);
  second.append(agent.says(Type.Erasure, { ids: [am("q399")] }));
  await second.settled();
  const short = new Transcript();
  const third = new Past(database, C, short, () => server([]));
  expect(await third.read(signal)).toBe(-1_201);
  expect(short.shown).toHaveLength(200);
  expect(texts(short).at(-1)).toBe("answer 399");
  expect(texts(short)).not.toContain("question 399");
  expect(third.more).toBe(true);
});

it("older messages tell which branches belong together", async () => {
  const transcript = new Transcript();
  const old = { ...said("first"), supersededBy: am("second") };
  const past = new Past(database, C, transcript, () => server([said("second")], [old]));
  await past.read(signal);
  await past.older(signal);
  expect(texts(transcript)).toEqual(["second"]);
  expect(transcript.shown[0]?.variants).toEqual([am("first"), am("second")]);
});
