import "fake-indexeddb/auto";

import { expect, it, vi } from "vitest";

import { decodePacket, encode } from "../protocol/envelope";
import { type Envelope, Type } from "../protocol/messages";
import { Unavailable } from "./access";
import { Conversation, type Helpers } from "./conversation";
import { openDatabase } from "./database";
import type { Arrival, Join } from "./link";
import { Agent, am, C, eventually, transient } from "./testing";

/** A room with an agent in it that stores nothing but remembers what it was sent. */
class Room {
  sent: Envelope[] = [];
  agent = new Agent();
  log: Envelope[] = [];
  deaf = false;
  joined = false;
  #tell: (arrival: Arrival) => void = () => undefined;

  join: Join = async (_access, tell) => {
    this.#tell = tell;
    this.joined = true;
    queueMicrotask(() => tell({ kind: "agentCame" }));
    return {
      agent: "agent",
      send: async (data) => this.#hear(data),
      publish: async () => async () => undefined,
      listen: () => () => undefined,
      leave: async () => undefined,
    };
  };

  publish(...envelopes: Envelope[]): void {
    this.log.push(...envelopes);
    for (const each of envelopes) this.tell(each);
  }

  tell(envelope: Envelope): void {
    this.#tell({ kind: "packet", data: encode(envelope) });
  }

  lose(): void {
    this.#tell({ kind: "lost", duplicate: false });
  }

  #hear(data: Uint8Array): void {
    for (const envelope of decodePacket(data)) {
      if (this.deaf) return;
      this.sent.push(envelope);
      if (envelope.type === Type.Configuration && "lastSequenceSeen" in envelope.body) {
        const seen = envelope.body.lastSequenceSeen ?? 0;
        this.tell(transient(Type.Configuration, { resumed: true, lastServerStanzaId: this.agent.head, lastClientStanzaId: 0 }));
        for (const each of this.log) if (each.stanzaId < seen) this.tell(each);
      } else if (envelope.type === Type.UserMessage && "content" in envelope.body) {
        const { id, content } = envelope.body;
        if (!this.log.some((each) => "id" in each.body && each.body.id === id)) {
          this.publish(this.agent.says(Type.UserMessage, { id, content }));
        }
        const head = { acknowledgedStanzaId: envelope.stanzaId, lastServerStanzaId: this.agent.head, id };
        this.tell(transient(Type.Acknowledgement, head));
      }
    }
  }
}

let round = 0;

async function helpers(room: Room, more: Partial<Helpers> = {}): Promise<Helpers> {
  round += 1;
  return {
    database: await openDatabase(`conversation-${round}`),
    device: "tab",
    knock: async () => ({ url: "", token: "", room: C, conversationId: C, identity: "" }),
    join: room.join,
    ...more,
  };
}

const contents = (room: Room) => room.sent.flatMap(({ body }) => ("content" in body ? [body.content] : []));
const statuses = (conversation: Conversation) => conversation.view().shown.map(({ message }) => message.status);

it("a new conversation is opened by its first words, and gets its name before they are sent", async () => {
  const room = new Room();
  const named = vi.fn(() => expect(contents(room)).toEqual([]));
  const conversation = new Conversation("draft_x", await helpers(room, { named }));
  conversation.start();
  await eventually(() => expect(room.joined).toBe(true));
  expect(room.sent).toEqual([]);
  await conversation.ask("hello");
  await eventually(() => expect(statuses(conversation)).toEqual(["sent"]));
  expect(named).toHaveBeenCalledWith("draft_x", C);
  expect(conversation.view()).toMatchObject({ id: C, waiting: 0, connection: { state: "online" } });
  await conversation.close();
});

it("what is written while the server is away is sent once when it is back, in order", async () => {
  const room = new Room();
  let away = true;
  const around = await helpers(room);
  const knock = around.knock;
  const conversation = new Conversation(C, {
    ...around,
    knock: (...from) => {
      if (away || !knock) throw new Unavailable("away");
      return knock(...from);
    },
  });
  await conversation.ask("one");
  await conversation.ask("two");
  await eventually(() => expect(conversation.view().connection).toEqual({ state: "away", missing: "server" }));
  expect(statuses(conversation)).toEqual(["queued", "queued"]);
  away = false;
  conversation.nudge();
  await eventually(() => expect(statuses(conversation)).toEqual(["sent", "sent"]));
  expect(contents(room)).toEqual(["one", "two"]);
  await conversation.close();
});

it("a page that is opened again goes on where the last one ended, and sends what that one could not", async () => {
  const room = new Room();
  const around = await helpers(room);
  const first = new Conversation(C, around);
  first.start();
  await first.ask("one");
  await eventually(() => expect(statuses(first)).toEqual(["sent"]));
  room.publish(room.agent.starts("a", "q"), room.agent.sentence("a", 1, "Half. "));
  await eventually(() => expect(first.view().shown.map(({ message }) => message.text)).toContain("Half. "));
  room.deaf = true;
  await first.ask("two");
  await first.close();

  room.deaf = false;
  room.sent = [];
  room.log.push(room.agent.sentence("a", 2, "Whole.", "completed"));
  const second = new Conversation(C, around);
  second.start();
  await eventually(() => expect(second.view().shown.map(({ message }) => message.text)).toContain("Half. Whole."));
  await eventually(() => expect(contents(room)).toEqual(["two"]));
  expect(room.sent[0]?.body).toMatchObject({ lastSequenceSeen: -3 });
  await second.close();
});

it("a gap is filled by asking for it", async () => {
  const room = new Room();
  const conversation = new Conversation(C, await helpers(room));
  conversation.start();
  await eventually(() => expect(conversation.view().connection.state).toBe("online"));
  room.log.push(room.agent.asks("q", "Well?"), room.agent.starts("a", "q"));
  room.publish(room.agent.sentence("a", 1, "Yes.", "completed"));
  await eventually(() => expect(conversation.view().shown.map(({ message }) => message.text)).toEqual(["Well?", "Yes."]));
  await conversation.close();
});

it("a room that is lost is joined again", async () => {
  const room = new Room();
  const conversation = new Conversation(C, await helpers(room));
  conversation.start();
  await eventually(() => expect(conversation.view().connection.state).toBe("online"));
  const states = new Set<string>();
  conversation.subscribe(() => states.add(conversation.view().connection.state));
  room.log.push(room.agent.asks("q", "from elsewhere"));
  room.lose();
  await eventually(() => expect(conversation.view().shown).toHaveLength(1));
  expect([...states]).toEqual(["away", "online"]);
  await conversation.close();
});

it("a message that was not sent can be taken back", async () => {
  const room = new Room();
  const conversation = new Conversation(C, await helpers(room, { knock: () => Promise.reject(new Unavailable("away")) }));
  await conversation.ask("never mind");
  const id = conversation.view().shown[0]?.message.id ?? "";
  expect(await conversation.discard(id)).toBe(true);
  expect(conversation.view()).toMatchObject({ shown: [], waiting: 0 });
  await conversation.close();
});

it("stopping names what is being answered, and is asked for once", async () => {
  const room = new Room();
  const conversation = new Conversation(C, await helpers(room));
  conversation.start();
  await eventually(() => expect(conversation.view().connection.state).toBe("online"));
  room.publish(room.agent.asks("q", "Well?"), room.agent.starts("a", "q"), room.agent.sentence("a", 1, "So…"));
  await eventually(() => expect(conversation.view().answering).toBe(am("a")));
  await conversation.stop();
  await conversation.stop();
  await eventually(() => expect(room.sent.filter((each) => each.type === Type.ControlStop)).toHaveLength(1));
  room.publish(room.agent.sentence("a", 2, "", "stopped"));
  await eventually(() => expect(conversation.view().answering).toBeUndefined());
  await conversation.close();
});

it("who wants to speak opens a new conversation without a word, and asks to hear the answers", async () => {
  const room = new Room();
  const conversation = new Conversation("draft_v", await helpers(room));
  const speech = { join: vi.fn(), leave: vi.fn() };
  conversation.speak(speech);
  await eventually(() => expect(conversation.view()).toMatchObject({ id: C, connection: { state: "online" } }));
  expect(speech.join).toHaveBeenCalledTimes(1);
  expect(room.sent.at(-1)?.body).toMatchObject({ features: ["streaming", "voice"] });
  conversation.speak(undefined);
  expect(speech.leave).toHaveBeenCalledTimes(1);
  await eventually(() => expect(room.sent.at(-1)?.body).toMatchObject({ features: ["streaming"] }));
  await conversation.close();
});

it("a room that is joined again hears the same voice again", async () => {
  const room = new Room();
  const conversation = new Conversation(C, await helpers(room));
  const speech = { join: vi.fn(), leave: vi.fn() };
  conversation.speak(speech);
  await eventually(() => expect(conversation.view().connection.state).toBe("online"));
  room.lose();
  await eventually(() => expect(speech.join).toHaveBeenCalledTimes(2));
  expect(speech.leave).toHaveBeenCalledTimes(1);
  await conversation.close();
});

it("what is being said is shown until it has become a message", async () => {
  const room = new Room();
  const conversation = new Conversation(C, await helpers(room));
  conversation.speak({ join: () => undefined, leave: () => undefined });
  await eventually(() => expect(conversation.view().connection.state).toBe("online"));
  const id = `aa_${"1".repeat(21)}` as const;
  room.tell(transient(Type.Transcription, { id, text: "How are", final: false }));
  await eventually(() => expect(conversation.view().hearing).toEqual({ id, text: "How are", final: false }));
  room.publish(room.agent.says(Type.Transcription, { id, text: "How are you?", final: true }));
  await eventually(() => expect(conversation.view().hearing).toMatchObject({ text: "How are you?", final: true }));
  room.tell(transient(Type.Transcription, { id, text: "How are", final: false }));
  room.publish(room.agent.asks("v", "How are you?", { audioId: id }));
  await eventually(() => expect(conversation.view().hearing).toBeUndefined());
  expect(conversation.view().shown.map(({ message }) => message.text)).toEqual(["How are you?"]);
  await conversation.close();
});
