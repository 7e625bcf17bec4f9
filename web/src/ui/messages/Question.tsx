import { memo, useState } from "react";

import type { Conversation } from "../../client/conversation";
import type { Shown } from "../../client/message";
import { CopyButton } from "../CopyButton";
import { Icon, IconButton } from "../icons";
import { Listen } from "../voice/Listen";
import { Field } from "./Field";
import { Notes } from "./Notes";
import { Stepper } from "./Stepper";

/** What the user said. */
export const Question = memo(
  function Question({ shown, conversation }: { shown: Shown; conversation: Conversation }) {
    const { message } = shown;
    const [open, setOpen] = useState<"edit" | "note">();
    const close = () => setOpen(undefined);
    const unsent = message.status === "queued" || message.status === "refused";
    if (open === "edit") {
      return (
        <article className="question editing" aria-label="You">
          <Field
            label="Edit your message"
            value={message.text}
            done="Send"
            hint="The earlier version stays."
            onCancel={close}
            onDone={(text) => {
              close();
              void conversation.edit(message.id, text);
            }}
          />
        </article>
      );
    }
    return (
      <article className={`question ${message.status}`} aria-label="You" data-id={message.id}>
        <div className="bubble">{message.erased ? <em className="soft">Erased</em> : message.text}</div>
        {message.status === "queued" && (
          <p className="small late waiting-line">
            <Icon name="clock" /> Waiting to be sent
            <button type="button" className="link" onClick={() => void conversation.discard(message.id)}>
              Discard
            </button>
          </p>
        )}
        {message.status === "refused" && (
          <p className="small trouble-line" role="alert">
            <Icon name="alert" /> Not sent: {message.failure}
            <button type="button" className="link" onClick={() => void conversation.discard(message.id)}>
              Discard
            </button>
          </p>
        )}
        {!message.erased && (
          <footer className="actions">
            <Stepper shown={shown} onChoose={(id) => conversation.choose(id)} />
            {!unsent && <IconButton icon="edit" label="Edit" onClick={() => setOpen("edit")} />}
            {!unsent && <IconButton icon="note" label="Add a note" onClick={() => setOpen("note")} expanded={open === "note"} />}
            {message.recorded && message.audioId && <Listen ids={[message.audioId]} label="Listen again" />}
            <CopyButton text={message.text} label="Copy message" />
          </footer>
        )}
        <Notes notes={message.notes} />
        {open === "note" && (
          <Field
            label="Your note"
            done="Keep"
            onCancel={close}
            onDone={(text) => {
              close();
              void conversation.note(message.id, text);
            }}
          />
        )}
      </article>
    );
  },
  (before, after) => before.shown.message === after.shown.message && before.shown.variants.length === after.shown.variants.length,
);
