import { useEffect, useRef, useState } from "react";

import type { Shown } from "../client/message";

/** Reads new sentences out to whoever listens to the page; nothing that was there before, and each once. */
export function Announcer({ shown, loading }: { shown: readonly Shown[]; loading: boolean }) {
  const said = useRef<Set<string> | undefined>(undefined);
  const [lines, setLines] = useState<{ id: string; text: string }[]>([]);
  useEffect(() => {
    if (loading) return;
    const sentences = shown.slice(-2).flatMap(({ message }) => message.sentences);
    if (said.current === undefined) said.current = new Set(sentences.map((each) => each.id));
    const fresh = sentences.filter((each) => !said.current?.has(each.id) && each.text.trim());
    for (const each of fresh) said.current.add(each.id);
    if (fresh.length) setLines((before) => [...before.slice(-4), ...fresh]);
  }, [shown, loading]);
  return (
    <div className="hidden" aria-live="polite" aria-relevant="additions">
      {lines.map(({ id, text }) => (
        <p key={id}>{text.replace(/[*_#>`|]+/g, "")}</p>
      ))}
    </div>
  );
}
