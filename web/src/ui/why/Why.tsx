import { useCallback } from "react";

import type { Message } from "../../client/message";
import { readTrace } from "../../client/trace";
import { waterfall } from "../../client/waterfall";
import { useLoad } from "../useLoad";
import { Listen } from "../voice/Listen";
import { Memory } from "./Memory";
import { Tool } from "./Tool";
import { Waterfall } from "./Waterfall";
import { behind } from "./behind";
import "./why.css";

/** The memories, tools and thoughts behind an answer, and how its time was spent. */
export default function Why({ message }: { message: Message }) {
  const { id, supersedes } = message;
  const { value, trouble, again } = useLoad(useCallback((signal: AbortSignal) => readTrace(id, signal), [id]));
  const { memories, tools, reasoning } = behind(message, value?.answer);
  const turn = value && waterfall(value.answer, value.question, supersedes !== undefined);
  const spoken = value?.answer.sentences.filter(({ audioBytesize }) => audioBytesize) ?? [];
  const looked = value?.answer.memories.find((each) => each.queryPrompt)?.queryPrompt;
  return (
    <>
      {!memories.length && !tools.length && !reasoning && (
        <p className="soft">No memory and no tool was used. The answer comes from this conversation and the model alone.</p>
      )}
      {memories.length > 0 && (
        <section>
          <h3>Remembered</h3>
          <ul>
            {memories.map((memory) => (
              <Memory key={memory.id} memory={memory} />
            ))}
          </ul>
          {looked && looked.length < 200 && <p className="small soft">Looked for “{looked}”</p>}
        </section>
      )}
      {tools.length > 0 && (
        <section>
          <h3>Tools</h3>
          <ul>
            {tools.map((tool) => (
              <Tool key={tool.id} tool={tool} />
            ))}
          </ul>
        </section>
      )}
      {reasoning && (
        <section>
          <h3>Thoughts</h3>
          <p className="thoughts" tabIndex={0} role="region" aria-label="Thoughts">
            {reasoning}
          </p>
        </section>
      )}
      {spoken.length > 0 && (
        <section>
          <h3>Said aloud</h3>
          <ul className="spoken">
            {spoken.map(({ id, text }) => (
              <li key={id}>
                <Listen ids={[id]} label={`Listen to “${text.trim().slice(0, 60)}”`} />
                <span>{text.trim()}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
      {turn && turn.stages.length > 0 && (
        <section>
          <h3>Time</h3>
          <Waterfall turn={turn} />
        </section>
      )}
      {trouble && (
        <p className="small soft" role="status">
          The details could not be loaded.{" "}
          <button type="button" className="link" onClick={again}>
            Try again
          </button>
        </p>
      )}
    </>
  );
}
