import { useCallback, useEffect, useRef, useSyncExternalStore } from "react";

import type { Conversation } from "../client/conversation";
import { Announcer } from "./Announcer";
import { Composer } from "./Composer";
import { Empty } from "./Empty";
import { Icon } from "./icons";
import { StatusLine } from "./StatusLine";
import { Thread } from "./thread/Thread";
import { useReveal } from "./thread/useReveal";
import { useStick } from "./useStick";
import { useVoice } from "./voice/useVoice";
import { VoiceBar } from "./voice/VoiceBar";

interface Props {
  conversation: Conversation;
  reachable: boolean | undefined;
  /** The message to show, if the address names one. */
  messageId: string | undefined;
  /** The first words of a new conversation were said. */
  onBegin: () => void;
}

/** One conversation: what was said, the state of the line, and a place to write. */
export function ConversationView({ conversation, reachable, messageId, onBegin }: Props) {
  const view = useSyncExternalStore(conversation.subscribe, conversation.view);
  const scroller = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const { shown, answering, loading, hearing } = view;
  const { away, toEnd, letGo } = useStick(scroller, hearing ?? shown);
  const empty = shown.length === 0;
  const voice = useVoice(
    conversation,
    useCallback(() => empty && onBegin(), [empty, onBegin]),
  );
  useReveal(conversation, scroller, messageId, letGo);

  useEffect(() => {
    if (matchMedia("(hover: hover)").matches) field.current?.focus();
  }, []);
  useEffect(() => {
    const keys = (event: KeyboardEvent) => {
      // While the list lies over it, Escape closes the list.
      if (event.key === "Escape" && !event.defaultPrevented && !field.current?.closest("[inert]")) void conversation.stop();
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, [conversation]);

  const send = (text: string) => {
    void conversation.ask(text).then(() => {
      if (empty) onBegin();
      toEnd();
    });
  };
  const begin = (words: string) => {
    const element = field.current;
    if (!element) return;
    // React hears of it as if it had been typed.
    Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, "value")?.set?.call(element, words);
    element.dispatchEvent(new Event("input", { bubbles: true }));
    element.focus();
  };
  return (
    <>
      <div className="scroller" ref={scroller} role="region" aria-label="Messages" tabIndex={0}>
        <div className="thread">
          {empty && !hearing && (loading ? <Loading /> : <Empty onBegin={begin} />)}
          <Thread conversation={conversation} view={view} scroller={scroller} />
        </div>
      </div>
      <Announcer key={conversation.id} shown={shown} loading={loading} />
      <div className="dock">
        {away && (
          <button type="button" className="to-end" onClick={toEnd} aria-label="To the newest message">
            <Icon name="down" />
          </button>
        )}
        <StatusLine view={view} reachable={reachable} />
        <VoiceBar control={voice} answering={answering !== undefined} connected={view.connection.state === "online"} />
        <Composer
          id={conversation.id}
          field={field}
          answering={answering !== undefined}
          onType={() => conversation.start()}
          onSend={send}
          onStop={() => void conversation.stop()}
          speaking={voice.view.state === "on" || voice.view.state === "starting"}
          onSpeak={voice.toggle}
        />
        <p className="hint" aria-hidden="true">
          <kbd>Enter</kbd> sends · <kbd>Shift</kbd> <kbd>Enter</kbd> new line · <kbd>Esc</kbd> stops
        </p>
      </div>
    </>
  );
}

function Loading() {
  return (
    <div className="loading" role="status" aria-label="Loading the conversation">
      <span className="bone short" />
      <span className="bone" />
      <span className="bone" />
      <span className="bone half" />
    </div>
  );
}
