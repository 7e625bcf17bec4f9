import { type KeyboardEvent, useEffect, useRef, useState } from "react";

interface Props {
  label: string;
  value?: string;
  done: string;
  /** What is noted beside the buttons. */
  hint?: string;
  onDone: (text: string) => void;
  onCancel: () => void;
}

/** A small form for a few words: Enter keeps them, Escape does not. */
export function Field({ label, value = "", done, hint, onDone, onCancel }: Props) {
  const [text, setText] = useState(value);
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    field.current?.focus();
    field.current?.setSelectionRange(value.length, value.length);
  }, [value]);
  const ready = text.trim() !== "" && text !== value;
  const finish = () => ready && onDone(text.trim());
  const keys = (event: KeyboardEvent) => {
    if (event.key === "Escape") {
      event.stopPropagation();
      onCancel();
    } else if (event.key === "Enter" && !event.shiftKey && !event.nativeEvent.isComposing) {
      event.preventDefault();
      finish();
    }
  };
  return (
    <form
      className="field"
      onSubmit={(event) => {
        event.preventDefault();
        finish();
      }}
    >
      <textarea ref={field} aria-label={label} value={text} rows={2} onChange={(event) => setText(event.target.value)} onKeyDown={keys} />
      <div className="field-buttons">
        {hint && <span className="small">{hint}</span>}
        <button type="button" className="quiet" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" className="primary" disabled={!ready}>
          {done}
        </button>
      </div>
    </form>
  );
}
