import { expect, test } from "vitest";

import type { Trace } from "./trace";
import { waterfall } from "./waterfall";

const at = (ms: number) => new Date(1_000_000 + ms).toISOString();

function trace(createdAt: number, rest: Partial<Trace> = {}): Trace {
  const message = { id: "am_1", previousId: null, createdAt: at(createdAt) };
  return { message, sentences: [], reasoning: [], toolUses: [], memories: [], audio: [], waits: [], stanzas: [], ...rest };
}

function sentence(id: string, ready: number, durationMs: number | null = null): Trace["sentences"][number] {
  return { id, text: `${id}.`, audioBytesize: durationMs && 1, durationMs, createdAt: at(ready) };
}

test("a written turn has what there was, in order", () => {
  const answer = trace(40, { sentences: [sentence("a", 300), sentence("b", 500)] });
  const { stages, total } = waterfall(answer, trace(0), false);
  expect(stages).toEqual([
    { name: "Remembered", spans: [{ from: 0, to: 40 }] },
    { name: "Sentences", spans: [{ from: 40, to: 300, text: "a." }, { from: 300, to: 500, text: "b." }] },
  ]);
  expect(total).toBe(500);
});

test("a spoken turn begins with what was heard and ends with the speech", () => {
  const answer = trace(30, {
    sentences: [sentence("a", 200, 1_000), sentence("b", 300, 500)],
    stanzas: [{ type: 10, ref: "a", createdAt: at(260) }],
  });
  const transcriptionMeta = { knownAt: at(-300), tookMs: 120 };
  const question = trace(0, { audio: [{ id: "aa_1", durationMs: 2_000, transcription: "Well?", transcriptionMeta }] });
  const { stages, total } = waterfall(answer, question, false);
  expect(stages.slice(0, 2)).toEqual([
    { name: "Heard", spans: [{ from: 0, to: 2_000 }] },
    { name: "Transcribed", spans: [{ from: 1_580, to: 1_700 }] },
  ]);
  expect(stages.at(-1)?.spans).toEqual([
    { from: 2_200, to: 3_200, text: "a." },
    { from: 3_200, to: 3_700, text: "b." },
  ]);
  expect(total).toBe(3_700);
});

test("of a transcription without a time it is known that it was there when the turn was over", () => {
  const question = trace(0, { audio: [{ id: "aa_1", durationMs: 900, transcription: "Well?", transcriptionMeta: {} }] });
  const { stages } = waterfall(trace(30), question, false);
  expect(stages.find(({ name }) => name === "Transcribed")?.spans).toEqual([{ from: 900, to: 900 }]);
});

test("the wait for the model stands before what it said, once for each time it was asked", () => {
  const tool = { id: "atu_1", toolName: "clock", toolArguments: {}, toolResult: "noon", status: "success", errorMessage: null } as const;
  const answer = trace(10, {
    waits: [
      { askedAt: at(20), firstTokenAt: at(90) },
      { askedAt: at(200), firstTokenAt: at(260) },
    ],
    toolUses: [{ ...tool, createdAt: at(100), completedAt: at(190) }],
    sentences: [sentence("a", 300)],
  });
  const { stages } = waterfall(answer, trace(0), false);
  expect(stages.map(({ name }) => name)).toEqual(["Remembered", "First token", "clock", "Sentences"]);
  expect(stages[1]?.spans).toEqual([{ from: 20, to: 90 }, { from: 200, to: 260 }]);
  expect(stages[3]?.spans).toEqual([{ from: 260, to: 300, text: "a." }]);
});

test("what was begun on a guess is drawn from when somebody had spoken", () => {
  const answer = trace(10, { waits: [{ askedAt: at(-80), firstTokenAt: at(-20) }], sentences: [sentence("a", 40)] });
  const question = trace(0, { audio: [{ id: "aa_1", durationMs: 900, transcription: "Well?", transcriptionMeta: {} }] });
  const { stages } = waterfall(answer, question, false);
  expect(stages.map(({ name }) => name)).toEqual(["Heard", "Transcribed", "Remembered", "First token", "Sentences"]);
  expect(stages.find(({ name }) => name === "First token")?.spans).toEqual([{ from: 900, to: 900 }]);
});

test("what was thought comes before what was said", () => {
  const answer = trace(10, { reasoning: [{ id: "ar_1", content: "Hm.", createdAt: at(200) }], sentences: [sentence("a", 260)] });
  expect(waterfall(answer, trace(0), false).stages.slice(1)).toEqual([
    { name: "Thought", spans: [{ from: 10, to: 200 }] },
    { name: "Sentences", spans: [{ from: 200, to: 260, text: "a." }] },
  ]);
});

test("tools stand between the sentences around them", () => {
  const tool = { id: "atu_1", toolName: "clock", toolArguments: {}, toolResult: "noon", status: "success", errorMessage: null } as const;
  const answer = trace(10, {
    sentences: [sentence("a", 100), sentence("b", 700)],
    toolUses: [{ ...tool, createdAt: at(150), completedAt: at(600) }],
  });
  const { stages } = waterfall(answer, trace(0), false);
  expect(stages.find(({ name }) => name === "clock")?.spans).toEqual([{ from: 150, to: 600 }]);
  expect(stages.find(({ name }) => name === "Sentences")?.spans[1]).toMatchObject({ from: 600, to: 700 });
});

test("an answer given again has nothing to do with the age of its question", () => {
  const answer = trace(60_000, { sentences: [sentence("a", 60_200)] });
  expect(waterfall(answer, trace(0), true)).toMatchObject({ total: 200, stages: [{ name: "Sentences" }] });
});
