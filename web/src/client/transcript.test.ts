import { expect, it } from "vitest";

import { type Envelope, Type } from "../protocol/messages";
import { blank } from "./message";
import { Agent, am, C, question } from "./testing";
import { Transcript } from "./transcript";

function told(...envelopes: Envelope[]): Transcript {
  const transcript = new Transcript();
  for (const envelope of envelopes) transcript.apply(envelope);
  return transcript;
}

const texts = (transcript: Transcript) => transcript.shown.map(({ message }) => message.text);

it("an answer grows sentence by sentence and keeps its exact text", () => {
  const agent = new Agent();
  const transcript = told(agent.asks("q", "Well?"), agent.starts("a", "q"), agent.sentence("a", 1, "One. "));
  expect(transcript.get(am("a"))).toMatchObject({ status: "streaming", text: "One. " });
  const last = agent.sentence("a", 2, "Two.", "completed");
  transcript.apply(last);
  transcript.apply(last);
  expect(transcript.get(am("a"))).toMatchObject({ status: "completed", text: "One. Two." });
});

it("what is shown stays the same object until something changes", () => {
  const agent = new Agent();
  const transcript = told(agent.asks("q", "Well?"), agent.starts("a", "q"));
  const before = transcript.shown;
  expect(transcript.shown).toBe(before);
  transcript.apply(agent.sentence("a", 1, "Yes."));
  expect(transcript.shown).not.toBe(before);
  expect(transcript.shown[0]?.message).toBe(before[0]?.message);
});

it("memories, tools and thoughts belong to their answer", () => {
  const agent = new Agent();
  const transcript = told(
    agent.asks("q", "Well?"),
    agent.starts("a", "q"),
    agent.says(Type.MemoryTrace, {
      id: "amu_1",
      previousId: am("q"),
      memoryId: "amem_1",
      action: "retrieved",
      content: "likes tea",
      metadata: { answerId: am("a") },
    }),
    agent.says(Type.ReasoningStep, { id: "ar_1", messageId: am("a"), sequence: 1, content: "Let me " }),
    agent.says(Type.ReasoningStep, { id: "ar_2", messageId: am("a"), sequence: 2, content: "think." }),
    agent.says(Type.ToolUseRequest, {
      id: "atu_1",
      messageId: am("a"),
      sequence: 3,
      toolName: "calculator",
      parameters: { expression: "6*7" },
      execution: "server",
    }),
  );
  expect(transcript.get(am("a"))).toMatchObject({
    reasoning: "Let me think.",
    memories: [{ content: "likes tea" }],
    tools: [{ name: "calculator" }],
  });
  transcript.apply(agent.says(Type.ToolUseResult, { requestId: "atu_1", success: true, result: 42 }));
  expect(transcript.get(am("a"))?.tools[0]?.outcome).toMatchObject({ success: true, result: 42 });
});

it("an answer stands after its question, even when another question came between", () => {
  const agent = new Agent();
  const transcript = told(
    agent.asks("q1", "one?"),
    agent.asks("q2", "two?"),
    agent.starts("a1", "q1"),
    agent.sentence("a1", 1, "one!", "completed"),
    agent.starts("a2", "q2"),
    agent.sentence("a2", 1, "two!", "completed"),
  );
  expect(texts(transcript)).toEqual(["one?", "one!", "two?", "two!"]);
});

it("what was asked before an answer began leaves with it", () => {
  const agent = new Agent();
  const transcript = told(
    agent.asks("q1", "One?"),
    agent.asks("q2", "Two?", { previousId: am("q1") }),
    agent.starts("a1", "q1"),
    agent.sentence("a1", 1, "One.", "completed"),
    agent.starts("a2", "q2"),
    agent.sentence("a2", 1, "Two.", "completed"),
  );
  expect(texts(transcript)).toEqual(["One?", "One.", "Two?", "Two."]);
  transcript.apply(agent.starts("again", "q1", "a1"));
  transcript.apply(agent.sentence("again", 1, "Once more.", "completed"));
  expect(texts(transcript)).toEqual(["One?", "Once more."]);
});

it("a regenerated answer takes the place of the old one, which can be stepped back to", () => {
  const agent = new Agent();
  const transcript = told(
    agent.asks("q", "Well?"),
    agent.starts("a", "q"),
    agent.sentence("a", 1, "First.", "completed"),
    agent.says(Type.ControlVariation, { id: am("b"), targetId: am("a"), mode: "regenerate" }),
  );
  expect(transcript.shown.at(-1)?.message).toMatchObject({ id: am("b"), status: "waiting" });
  transcript.apply(agent.starts("b", "q", "a"));
  transcript.apply(agent.sentence("b", 1, "Second.", "completed"));
  expect(transcript.shown.at(-1)?.variants).toEqual([am("a"), am("b")]);
  expect(texts(transcript)).toEqual(["Well?", "Second."]);
  transcript.choose(am("a"));
  expect(texts(transcript)).toEqual(["Well?", "First."]);
  transcript.chooseNewest();
  expect(texts(transcript)).toEqual(["Well?", "Second."]);
});

it("an edited question hides all that followed the old one, and brings it back", () => {
  const agent = new Agent();
  const transcript = told(
    agent.asks("q", "Wel?"),
    agent.starts("a", "q"),
    agent.sentence("a", 1, "What?", "completed"),
    agent.asks("r", "And?", { previousId: am("a") }),
    agent.says(Type.ControlVariation, { id: am("e"), targetId: am("q"), mode: "edit", content: "Well?" }),
    agent.asks("e", "Well?", { supersedes: am("q") }),
    agent.starts("b", "e"),
    agent.sentence("b", 1, "Well!", "completed"),
  );
  expect(texts(transcript)).toEqual(["Well?", "Well!"]);
  transcript.choose(am("q"));
  expect(texts(transcript)).toEqual(["Wel?", "What?", "And?"]);
});

it("what waits is shown as queued, and its echo makes it sent", () => {
  const agent = new Agent();
  const transcript = new Transcript();
  transcript.expect(question(1, "q", "hello"));
  expect(transcript.get(am("q"))).toMatchObject({ status: "queued", key: 1 });
  transcript.apply(agent.asks("q", "hello"));
  expect(transcript.get(am("q"))?.status).toBe("sent");
  transcript.expect(question(1, "q", "hello"));
  expect(transcript.get(am("q"))?.status).toBe("sent");
});

it("what is refused keeps its words and says why", () => {
  const transcript = new Transcript();
  transcript.expect(question(1, "q", "hello"), "too long");
  expect(transcript.get(am("q"))).toMatchObject({ status: "refused", text: "hello", failure: "too long" });
});

it("a renamed message is shown once", () => {
  const agent = new Agent();
  const transcript = new Transcript();
  transcript.expect(question(1, "mine"));
  transcript.apply(agent.asks("other", "hello", { localId: am("mine") }));
  expect(transcript.shown.map(({ message }) => message.id)).toEqual([am("other")]);
});

it("notes stand on their message, waiting ones become stored ones", () => {
  const agent = new Agent();
  const transcript = told(agent.asks("q", "Well?"));
  const note = { id: "aucc_1", messageId: am("q"), content: "good" } as const;
  transcript.expect({ key: 1, type: Type.UserNote, body: { conversationId: C, ...note } });
  expect(transcript.get(am("q"))?.notes).toMatchObject([{ waiting: true }]);
  transcript.apply(agent.says(Type.UserNote, note));
  expect(transcript.get(am("q"))?.notes).toEqual([{ id: "aucc_1", content: "good", waiting: false }]);
});

it("a note that was heard before its message came is shown once", () => {
  const transcript = told(new Agent().says(Type.UserNote, { id: `aucc_${"n".repeat(21)}`, messageId: am("old"), content: "Mine." }));
  const notes = [
    { id: "aucc_first", content: "Older.", waiting: false },
    { id: `aucc_${"n".repeat(21)}`, content: "Mine.", waiting: false },
  ];
  transcript.prepend([{ ...blank(am("old"), "user", "sent"), notes }]);
  expect(transcript.get(am("old"))?.notes).toEqual(notes);
});

it("what is erased is emptied, wherever it stands", () => {
  const agent = new Agent();
  const transcript = told(
    agent.asks("q", "secret"),
    agent.starts("a", "q"),
    agent.sentence("a", 1, "A secret.", "completed"),
    agent.says(Type.Erasure, { ids: [am("q"), am("a")] }),
  );
  expect(transcript.shown.every(({ message }) => message.erased && message.text === "")).toBe(true);
});

it("messages that follow themselves do not hang the page", () => {
  const agent = new Agent();
  expect(told(agent.asks("q", "Well?", { previousId: am("q") })).shown).toHaveLength(1);
});

it("a sentence and a recording can be heard again once their sound is stored", () => {
  const agent = new Agent();
  const audioId = `aa_${"r".repeat(21)}` as const;
  const transcript = told(agent.asks("q", "Well?", { audioId }), agent.starts("a", "q"), agent.sentence("a", 1, "Yes.", "completed"));
  expect(transcript.get(am("q"))?.recorded).toBeUndefined();
  const sentence = transcript.get(am("a"))?.sentences[0]?.id as `ams_${string}`;
  transcript.apply(agent.says(Type.AudioChunk, { id: audioId, format: "audio/ogg", durationMs: 900 }));
  transcript.apply(agent.says(Type.AudioChunk, { id: sentence, format: "audio/ogg", durationMs: 700 }));
  expect(transcript.get(am("q"))).toMatchObject({ audioId, recorded: true });
  expect(transcript.get(am("a"))?.sentences).toEqual([{ id: sentence, text: "Yes.", durationMs: 700 }]);
});

it("an answer knows that somebody spoke into it", () => {
  const agent = new Agent();
  const stop = { targetId: am("a"), stopType: "all", reason: "interrupted" } as const;
  const transcript = told(agent.asks("q", "Well?"), agent.starts("a", "q"), agent.says(Type.ControlStop, stop), agent.sentence("a", 1, "", "stopped"));
  expect(transcript.get(am("a"))).toMatchObject({ status: "stopped", interrupted: true });
});
