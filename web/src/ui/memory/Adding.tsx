import { useRef, useState } from "react";

import { Field } from "../messages/Field";
import type { Memories } from "./useMemories";

/** Two ways to let Alicia know something: in words, or by a document. */
export function Adding({ memories }: { memories: Memories }) {
  const [writing, setWriting] = useState(false);
  const [reading, setReading] = useState(false);
  const file = useRef<HTMLInputElement>(null);
  const read = async (document: File) => {
    setReading(true);
    await memories.addDocument(document);
    setReading(false);
  };
  if (writing) {
    return (
      <Field
        label="Something to remember"
        done="Remember"
        onCancel={() => setWriting(false)}
        onDone={(content) => {
          setWriting(false);
          memories.add(content);
        }}
      />
    );
  }
  return (
    <div className="tools">
      <button type="button" className="quiet" onClick={() => setWriting(true)}>
        Add a memory
      </button>
      <button type="button" className="quiet" disabled={reading} onClick={() => file.current?.click()}>
        {reading ? "Reading…" : "Add a document"}
      </button>
      <input
        ref={file}
        hidden
        type="file"
        accept=".txt,.md,.markdown,.html,.htm,.pdf"
        aria-label="Document"
        onChange={(event) => {
          const chosen = event.target.files?.[0];
          event.target.value = "";
          if (chosen) void read(chosen);
        }}
      />
    </div>
  );
}
