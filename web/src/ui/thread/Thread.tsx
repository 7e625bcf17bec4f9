import { type RefObject, useEffect, useLayoutEffect, useRef } from "react";

import type { Conversation, View } from "../../client/conversation";
import { Thinking } from "../messages/Answer";
import { Chunk } from "./Chunk";
import { chunked, filling } from "./chunks";
import { useWatch } from "./useWatch";

/** Of the window's height: heights are guessed before anything is drawn. */
const SPARE = 1.25;

interface Props {
  conversation: Conversation;
  view: View;
  scroller: RefObject<HTMLElement | null>;
}

/** The messages. Only those near the part in view are drawn, and older ones come when the reader comes near them. */
export function Thread({ conversation, view: { shown, answering, older, hearing }, scroller }: Props) {
  const watch = useWatch(scroller);
  const anchor = useRef<string>(undefined);
  if (!shown.some(({ message }) => message.id === anchor.current)) anchor.current = shown[0]?.message.id;
  const chunks = chunked(shown, anchor.current);
  const drawn = filling(chunks, SPARE * innerHeight);
  const last = shown.at(-1)?.message;
  const awaiting = answering !== undefined && answering === last?.id && last.role === "user";
  const held = useHold(scroller, shown[0]?.message.id);
  const holding = chunks.findIndex(({ items }) => items.some(({ message }) => message.id === held));
  return (
    <>
      {older && <Older conversation={conversation} count={shown.length} watch={watch} />}
      {chunks.map(({ key, items }, place) => (
        <Chunk
          key={key}
          items={items}
          conversation={conversation}
          lastId={last?.id}
          // Browsers can't hold what is read when something in view above it is drawn later, at another height.
          drawn={place >= chunks.length - drawn || place === holding - 1}
          watch={watch}
        />
      ))}
      {hearing && (
        <article className={hearing.final ? "question hearing final" : "question hearing"} aria-label="You, speaking">
          <div className="bubble">{hearing.text}</div>
        </article>
      )}
      {awaiting && (
        <article className="answer" aria-label="Alicia" aria-busy="true">
          <Thinking />
        </article>
      )}
    </>
  );
}

/** The place before the first message: whoever comes near it gets more. */
function Older({ conversation, count, watch }: { conversation: Conversation; count: number; watch: ReturnType<typeof useWatch> }) {
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const element = place.current;
    // Watching anew tells at once whether it is still near.
    return element ? watch(element, (near) => near && void conversation.loadOlder()) : undefined;
  }, [conversation, count, watch]);
  return (
    <p ref={place} className="older small soft" role="status">
      Loading earlier messages…
    </p>
  );
}

/** What is being read stays where it is when something is put before it; the id of what was the first message until now. */
function useHold(scroller: RefObject<HTMLElement | null>, firstId: string | undefined): string | undefined {
  const before = useRef({ firstId, top: 0 });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const { firstId: id, top } = before.current;
    // Elsewhere than at the very top browsers do this themselves.
    if (id !== firstId && element.scrollTop < 1) element.scrollTop += (topOf(element, id) ?? top) - top;
    before.current = { firstId, top: topOf(element, firstId) ?? 0 };
  });
  return before.current.firstId;
}

/** How far down a message begins. Of the first this stays true whatever else is drawn, higher or lower than was guessed. */
function topOf(scroller: HTMLElement, id: string | undefined): number | undefined {
  const element = scroller.querySelector(`[data-id="${id}"], [data-ids~="${id}"]`);
  return element ? element.getBoundingClientRect().top + scroller.scrollTop : undefined;
}
