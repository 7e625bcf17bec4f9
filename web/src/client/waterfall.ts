import { Type } from "../protocol/messages";
import type { Trace, TracedAudio } from "./trace";

/** A stretch of a turn, in milliseconds after its beginning. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly text?: string;
}

export interface Stage {
  readonly name: string;
  readonly spans: readonly Span[];
}

/** When what happened in a turn; only what there was, what began first at the top. */
export interface Waterfall {
  readonly stages: readonly Stage[];
  readonly total: number;
}

/**
 * A turn's stages, from the times at which each step was stored.
 *
 * `again` is set for an answer that was asked for a second time: its question is older than the turn.
 */
export function waterfall(answer: Trace, question: Trace | undefined, again: boolean): Waterfall {
  const opened = at(answer.message.createdAt);
  const asked = question && !again ? at(question.message.createdAt) : opened;
  const spoken = again ? undefined : question?.audio[0];
  const heard = spoken?.durationMs ?? 0;
  const zero = asked - heard;
  const since = (time: string) => at(time) - zero;
  const stages: Stage[] = [];
  const add = (name: string, ...spans: Span[]) => {
    if (spans.length) stages.push({ name, spans });
  };
  if (heard) add("Heard", { from: 0, to: heard });
  if (spoken) add("Transcribed", transcribed(spoken, since, asked - zero));
  if (question && !again) add("Remembered", { from: asked - zero, to: Math.max(asked, opened) - zero });

  // What was begun on a guess, before the turn was over, is drawn from when it was of use.
  const useful = (time: string) => Math.max(asked - zero, since(time));
  const waits = answer.waits.map(({ askedAt, firstTokenAt }) => ({ from: useful(askedAt), to: useful(firstTokenAt) }));
  add("First token", ...waits);
  const thoughts = answer.reasoning.map((each) => since(each.createdAt));
  if (thoughts.length) add("Thought", { from: Math.max(opened - zero, waits[0]?.to ?? 0), to: Math.max(...thoughts) });
  for (const { toolName, createdAt, completedAt } of answer.toolUses) {
    add(toolName, { from: since(createdAt), to: since(completedAt ?? createdAt) });
  }
  add("Sentences", ...sentences(answer, since, opened - zero, waits));
  add("Speech", ...speech(answer, since));
  stages.sort((one, other) => begin(one) - begin(other));
  return { stages, total: Math.max(1, ...stages.flatMap(({ spans }) => spans.map(({ to }) => to))) };
}

function begin({ spans }: Stage): number {
  return spans[0]?.from ?? 0;
}

/** When the words were known: with the turn's end at the latest. */
function transcribed({ transcriptionMeta: { knownAt, tookMs } }: TracedAudio, since: (time: string) => number, asked: number): Span {
  const to = typeof knownAt === "string" ? Math.max(0, Math.min(since(knownAt), asked)) : asked;
  return { from: Math.max(0, to - (typeof tookMs === "number" ? tookMs : 0)), to };
}

/** Each sentence from when what came before it was done: a sentence, a thought, a tool, or the wait for the model. */
function sentences(answer: Trace, since: (time: string) => number, start: number, waits: readonly Span[]): Span[] {
  const thoughts = answer.reasoning.map((each) => since(each.createdAt));
  const done = [...thoughts, ...waits.map(({ to }) => to), ...answer.toolUses.map((each) => since(each.completedAt ?? each.createdAt))];
  const spans: Span[] = [];
  let from = start;
  for (const { text, createdAt } of answer.sentences) {
    const to = since(createdAt);
    if (text.trim()) spans.push({ from: Math.max(from, ...done.filter((end) => end <= to)), to, text: text.trim() });
    from = to;
  }
  return spans;
}

/** Sentences are spoken one after the other, each at the earliest when its sound was there. */
function speech(answer: Trace, since: (time: string) => number): Span[] {
  const stored = new Map(answer.stanzas.filter(({ type }) => type === Type.AudioChunk).map((each) => [each.ref, since(each.createdAt)]));
  const spans: Span[] = [];
  for (const { id, text, durationMs, createdAt } of answer.sentences) {
    if (!durationMs) continue;
    const from = Math.max(spans.at(-1)?.to ?? 0, Math.min(stored.get(id) ?? Infinity, since(createdAt)));
    spans.push({ from, to: from + durationMs, text: text.trim() });
  }
  return spans;
}

function at(time: string): number {
  return Date.parse(time);
}
