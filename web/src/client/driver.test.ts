import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { Driver } from "./driver";
import type { Arrival, Join } from "./link";
import { ClientSession } from "./session";
import { C, question } from "./testing";

/** A room whose agent answers every Configuration and nothing else, until it is gone. */
class Room {
  joins = 0;
  agent: string | undefined = "agent";
  tell: (arrival: Arrival) => void = () => undefined;

  join: Join = async (_access, tell) => {
    this.joins += 1;
    this.tell = tell;
    const room = this;
    return {
      get agent() {
        return room.agent;
      },
      send: async () => tell({ kind: "packet", data: new Uint8Array() }),
      publish: async () => async () => undefined,
      listen: () => () => undefined,
      leave: async () => undefined,
    };
  };
}

function driven(room: Room, conversationId: typeof C | "" = C): { driver: Driver; session: ClientSession; stop: () => void } {
  const session = new ClientSession(conversationId, 0);
  const ending = new AbortController();
  const driver = new Driver({
    session,
    settings: () => ({}),
    knock: async () => ({ url: "", token: "", room: C, conversationId: C, identity: "" }),
    join: room.join,
    take: async () => true,
    changed: () => undefined,
  });
  void driver.run(ending.signal);
  return { driver, session, stop: () => ending.abort() };
}

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

it("whoever is alone in a room for long joins again", async () => {
  const room = new Room();
  room.agent = undefined;
  const { driver, stop } = driven(room);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(room.joins).toBe(1);
  expect(driver.connection).toEqual({ state: "away", missing: "agent" });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(room.joins).toBe(2);
  stop();
});

it("what no agent has opened stays in its room, for another try would open a second one", async () => {
  const room = new Room();
  room.agent = undefined;
  const { session, stop } = driven(room, "");
  session.submit(question(1, "q"));
  await vi.advanceTimersByTimeAsync(60_000);
  expect(room.joins).toBe(1);
  stop();
});

it("a message on its way keeps nobody busy while there is no agent to send it to", async () => {
  const room = new Room();
  const { driver, session, stop } = driven(room);
  await vi.advanceTimersByTimeAsync(100);
  expect(driver.connection).toEqual({ state: "online" });
  session.submit(question(1, "q"));
  driver.wake();
  await vi.advanceTimersByTimeAsync(100);
  room.agent = undefined;
  room.tell({ kind: "agentLeft" });
  const waits = vi.spyOn(globalThis, "setTimeout");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(waits.mock.calls.length).toBeLessThan(50);
  stop();
});
