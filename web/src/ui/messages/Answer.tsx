import { memo, Suspense, useId, useState } from "react";

import type { Conversation } from "../../client/conversation";
import type { Message, Shown } from "../../client/message";
import { CopyButton } from "../CopyButton";
import { Icon, IconButton } from "../icons";
import { Markdown } from "../markdown/Markdown";
import { part } from "../part";
import { Listen } from "../voice/Listen";
import { whyWords } from "../why/words";
import { Field } from "./Field";
import { Notes } from "./Notes";
import { Stepper } from "./Stepper";

const Why = part(() => import("../why/Why"));

/** What Alicia said, or is saying. */
export const Answer = memo(
  function Answer({ shown, conversation, last }: { shown: Shown; conversation: Conversation; last: boolean }) {
    const { message } = shown;
    const [open, setOpen] = useState<"why" | "note">();
    const panel = useId();
    const under = message.status === "streaming" || message.status === "waiting" || message.status === "queued";
    const toggle = (what: "why" | "note") => setOpen(open === what ? undefined : what);
    const sounds = message.sentences.filter(({ durationMs }) => durationMs !== undefined).map(({ id }) => id);
    const again = () => void conversation.regenerate(message.id);
    return (
      <article className={last ? "answer last" : "answer"} aria-label="Alicia" aria-busy={under} data-id={message.id}>
        {message.erased ? <p className="soft">Erased</p> : <Markdown text={message.text} />}
        {under && <Thinking message={message} />}
        {(message.status === "stopped" || message.interrupted) && (
          <p className="small soft">
            You {message.interrupted ? "interrupted" : "stopped"} this answer
            {/* What is said aloud may be interrupted long after it is written. */}
            {message.status === "stopped" && message.text ? " here" : ""}.
          </p>
        )}
        {message.status === "failed" && <Failure message={message} onAgain={again} />}
        {!under && !message.erased && (
          <footer className="actions">
            <Stepper shown={shown} onChoose={(id) => conversation.choose(id)} />
            {message.text && <CopyButton text={message.text} label="Copy answer" />}
            {sounds.length > 0 && <Listen ids={sounds} label="Listen again" />}
            <IconButton icon="again" label="Answer again" onClick={again} />
            <IconButton icon="note" label="Add a note" onClick={() => toggle("note")} expanded={open === "note"} />
            <button
              type="button"
              className="why-button"
              aria-expanded={open === "why"}
              aria-controls={open === "why" ? panel : undefined}
              onClick={() => toggle("why")}
            >
              <Icon name="why" />
              <span>Why{whyWords(message) && ` · ${whyWords(message)}`}</span>
            </button>
          </footer>
        )}
        {open === "why" && (
          <div id={panel} className="why" role="region" aria-label="Why this answer">
            <Suspense>
              <Why message={message} />
            </Suspense>
          </div>
        )}
        <Notes notes={message.notes} />
        {open === "note" && (
          <Field
            label="Your note"
            done="Keep"
            onCancel={() => setOpen(undefined)}
            onDone={(text) => {
              setOpen(undefined);
              void conversation.note(message.id, text);
            }}
          />
        )}
      </article>
    );
  },
  (before, after) =>
    before.shown.message === after.shown.message &&
    before.shown.variants.length === after.shown.variants.length &&
    before.last === after.last,
);

/** What Alicia does while no words come. */
export function Thinking({ message }: { message?: Message }) {
  const running = message?.tools.find((tool) => tool.outcome === undefined);
  const words = running ? `Using ${running.name}…` : message?.status === "queued" ? "Waiting to be sent…" : "Thinking…";
  return (
    <p className="thinking">
      <span className="dot" aria-hidden="true" />
      <span className={message?.text ? "hidden" : "words"}>{words}</span>
    </p>
  );
}

function Failure({ message, onAgain }: { message: Message; onAgain: () => void }) {
  const reason = message.failure ?? "The language model could not finish this answer. What was said so far is kept.";
  return (
    <div className="failure" role="alert">
      <Icon name="alert" />
      <p>{reason}</p>
      <button type="button" className="quiet" onClick={onAgain}>
        Try again
      </button>
    </div>
  );
}
