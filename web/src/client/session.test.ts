import { describe, expect, it } from "vitest";

import { ErrorCode, type Envelope, Type } from "../protocol/messages";
import { ClientSession } from "./session";
import { am, C, durable, question, transient } from "./testing";

const sentence = (stanzaId: number, previous: number): Envelope =>
  durable(stanzaId, previous, Type.AssistantSentence, {
    id: `ams_${"s".repeat(21)}`,
    previousId: am("a"),
    sequence: 1,
    text: "Yes.",
    isFinal: false,
  });

const configuration = (body: object) => transient(Type.Configuration, body);

const acknowledgement = (acknowledgedStanzaId: number, lastServerStanzaId: number, id?: string) =>
  transient(Type.Acknowledgement, { acknowledgedStanzaId, lastServerStanzaId, ...(id && { id }) });

const error = (code: number, originatingStanzaId: number, nextStanzaId?: number) =>
  transient(Type.ErrorMessage, {
    code,
    message: "no",
    severity: "error",
    recoverable: true,
    originatingStanzaId,
    ...(nextStanzaId && { nextStanzaId }),
  });

function joined(cursor = 0): ClientSession {
  const client = new ClientSession(C, cursor);
  client.configuration();
  client.receive(configuration({ resumed: true, lastClientStanzaId: 0, lastServerStanzaId: cursor }));
  return client;
}

describe("the cursor", () => {
  it("takes stanzas in order, once and without gaps", () => {
    const client = joined();
    expect(client.receive(sentence(-2, 0))).toBe("accepted");
    expect(client.receive(sentence(-2, 0))).toBe("duplicate");
    expect(client.receive(sentence(-9, -5))).toBe("gap");
    expect(client.cursor).toBe(-2);
    expect(client.wantsConfiguration).toBe(true);
    expect(client.configuration({ device: "tab" }).body).toMatchObject({ lastSequenceSeen: -2, device: "tab" });
    expect(client.receive(sentence(-5, -2))).toBe("accepted");
    expect(client.receive(sentence(-9, -5))).toBe("accepted");
  });

  it("asks about a gap once until the answer comes", () => {
    const client = joined();
    client.receive(sentence(-9, -5));
    client.configuration();
    expect(client.receive(sentence(-11, -9))).toBe("gap");
    expect(client.wantsConfiguration).toBe(false);
    client.receive(configuration({ resumed: true, lastServerStanzaId: -11 }));
    client.receive(sentence(-11, -9));
    expect(client.wantsConfiguration).toBe(true);
  });

  it("notices a lost tail by the stated head", () => {
    const client = joined(-4);
    expect(client.receive(acknowledgement(0, -4))).toBe("transient");
    expect(client.receive(acknowledgement(0, -6))).toBe("gap");
    expect(client.wantsConfiguration).toBe(true);
  });

  it("is not moved by transient stanzas, whatever their number", () => {
    const client = joined(-4);
    client.receive({ ...acknowledgement(0, -4), stanzaId: -8 });
    expect(client.cursor).toBe(-4);
    expect(client.receive(sentence(-6, -4))).toBe("accepted");
  });

  it("starts over when the agent does not know it", () => {
    const client = new ClientSession(C, -40);
    client.configuration();
    expect(client.receive(configuration({ resumed: false, lastServerStanzaId: -4 }))).toBe("restarted");
    expect(client.receive(sentence(-2, 0))).toBe("accepted");
  });

  it("passes over a stanza that can't be read", () => {
    const client = joined(-4);
    expect(client.skip(-6, -4)).toBe("accepted");
    expect(client.receive(sentence(-7, -6))).toBe("accepted");
  });

  it("obeys nobody but the agent, and in no other conversation", () => {
    const client = joined();
    expect(client.receive({ ...sentence(-2, 0), stanzaId: 2 })).toBe("stray");
    expect(client.receive({ ...sentence(-2, 0), conversationId: `ac_${"d".repeat(21)}` })).toBe("stray");
  });
});

describe("the outbox", () => {
  it("has one body in flight, and sends the next when the first is acknowledged", () => {
    const client = joined();
    client.submit(question(1, "one"));
    client.submit(question(2, "two"));
    const first = client.nextToSend();
    expect(first?.body).toMatchObject({ id: am("one") });
    expect(client.nextToSend()).toBeUndefined();
    client.receive(acknowledgement(first?.stanzaId ?? 0, 0, am("one")));
    expect(client.nextToSend()?.body).toMatchObject({ id: am("two") });
  });

  it("sends the very same envelope again when the answer is overdue", () => {
    const client = joined();
    client.submit(question(1, "one"));
    const first = client.nextToSend();
    client.resend();
    expect(client.nextToSend()).toBe(first);
  });

  it("is cleared by an echo, also by one that was renamed", () => {
    const client = joined();
    client.submit(question(1, "one"));
    client.submit(question(2, "two"));
    client.receive(durable(-2, 0, Type.UserMessage, { id: am("one"), content: "hello" }));
    client.receive(durable(-3, -2, Type.UserMessage, { id: am("new"), content: "hello", localId: am("two") }));
    expect(client.outbox).toEqual([]);
  });

  it("stamps a body anew when its number was wrong", () => {
    const client = joined();
    client.submit(question(1, "one"));
    const first = client.nextToSend();
    client.receive(error(ErrorCode.Stanza, first?.stanzaId ?? 0, 1000));
    const second = client.nextToSend();
    expect(second?.stanzaId).toBe(1000);
    expect(second?.body).toEqual(first?.body);
  });

  it("drops what is refused for good, and keeps what may be tried later", () => {
    const client = joined();
    client.submit(question(1, "one"));
    const sent = client.nextToSend();
    client.receive(error(ErrorCode.Unavailable, sent?.stanzaId ?? 0));
    expect(client.outbox).toHaveLength(1);
    client.receive(error(ErrorCode.InvalidField, sent?.stanzaId ?? 0));
    expect(client.outbox).toHaveLength(0);
  });

  it("gives back what was not sent yet, and nothing else", () => {
    const client = joined();
    client.submit(question(1, "one"));
    client.submit(question(2, "two"));
    client.nextToSend();
    expect(client.withdraw(1)).toBe(false);
    expect(client.withdraw(2)).toBe(true);
    expect(client.outbox).toHaveLength(1);
  });

  it("waits until a new conversation has its id", () => {
    const client = new ClientSession();
    client.submit(question(1, "one"));
    expect(client.configuration().conversationId).toBe("");
    expect(client.nextToSend()).toBeUndefined();
    client.receive(configuration({ resumed: true, lastServerStanzaId: 0 }));
    expect(client.nextToSend()?.conversationId).toBe(C);
  });
});
