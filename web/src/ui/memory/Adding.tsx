import { useState } from "react";

import { FileButton } from "../FileButton";
import { Field } from "../messages/Field";
import type { Memories } from "./useMemories";

/** Two ways to let Alicia know something: in words, or by a document. */
export function Adding({ memories }: { memories: Memories }) {
  const [writing, setWriting] = useState(false);
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
      <FileButton
        label="Document"
        accept=".txt,.md,.markdown,.html,.htm,.pdf"
        words="Add a document"
        busyWords="Reading…"
        onFile={memories.addDocument}
      />
    </div>
  );
}
