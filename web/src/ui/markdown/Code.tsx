import { memo, useEffect, useState } from "react";

import { CopyButton } from "../CopyButton";
import type { Piece } from "./highlight";

/** A block of code: readable at once, in colour as soon as the highlighter is loaded. */
export const Code = memo(function Code({ text, language }: { text: string; language: string | undefined }) {
  const [coloured, setColoured] = useState<{ text: string; pieces: Piece[] }>();
  useEffect(() => {
    if (!language) return undefined;
    let wanted = true;
    import("./highlight").then(
      ({ highlight }) => {
        const pieces = wanted ? highlight(text, language.toLowerCase()) : undefined;
        if (pieces) setColoured({ text, pieces });
      },
      () => undefined,
    );
    return () => {
      wanted = false;
    };
  }, [text, language]);
  return (
    <figure className="code">
      <figcaption>
        <span>{language ?? "text"}</span>
        <CopyButton text={text} label="Copy code" />
      </figcaption>
      <pre tabIndex={0} aria-label={`Code, ${language ?? "text"}`}>
        <code>
          {coloured?.text === text
            ? coloured.pieces.map(({ text: part, kind }, place) => (
                <span key={place} className={kind || undefined}>
                  {part}
                </span>
              ))
            : text}
        </code>
      </pre>
    </figure>
  );
});
