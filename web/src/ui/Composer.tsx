import { type KeyboardEvent, type RefObject, useLayoutEffect, useState } from "react";

import { Icon, StopIcon } from "./icons";

interface Props {
  /** Whose words these are; unsent ones are kept under this name while the tab lives. */
  id: string;
  field: RefObject<HTMLTextAreaElement | null>;
  answering: boolean;
  onType: () => void;
  onSend: (text: string) => void;
  onStop: () => void;
  /** Whether the microphone is on, and how to switch it. */
  speaking: boolean;
  onSpeak: () => void;
}

const KEY = "alicia.words:";

/** Where the user writes. Enter sends, Shift+Enter begins a line. */
export function Composer({ id, field, answering, onType, onSend, onStop, speaking, onSpeak }: Props) {
  const [text, setText] = useState(() => sessionStorage.getItem(KEY + id) ?? "");
  const change = (next: string) => {
    setText(next);
    if (next) sessionStorage.setItem(KEY + id, next);
    else sessionStorage.removeItem(KEY + id);
  };
  useLayoutEffect(() => {
    const element = field.current;
    if (!element) return;
    element.style.height = "auto";
    element.style.height = `${element.scrollHeight}px`;
  }, [text, field]);
  const send = () => {
    const words = text.trim();
    if (!words) return;
    change("");
    onSend(words);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "Enter" || event.shiftKey || event.nativeEvent.isComposing) return;
    event.preventDefault();
    send();
  };
  const stops = answering && !text.trim();
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <textarea
        ref={field}
        rows={1}
        value={text}
        placeholder="Write to Alicia"
        aria-label="Your message"
        enterKeyHint="send"
        onChange={(event) => {
          change(event.target.value);
          onType();
        }}
        onKeyDown={keys}
      />
      <button
        type="button"
        className="speak"
        aria-label="Speak"
        title={speaking ? "Stop speaking" : "Speak"}
        aria-pressed={speaking}
        onClick={onSpeak}
      >
        <Icon name="mic" />
      </button>
      {stops ? (
        <button type="button" className="send stop" aria-label="Stop" title="Stop (Esc)" onClick={onStop}>
          <StopIcon />
        </button>
      ) : (
        <button type="submit" className="send" aria-label="Send" title="Send (Enter)" disabled={!text.trim()}>
          <Icon name="send" />
        </button>
      )}
    </form>
  );
}
