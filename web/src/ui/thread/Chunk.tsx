import { memo, startTransition, useEffect, useRef, useState } from "react";

import type { Conversation } from "../../client/conversation";
import type { Shown } from "../../client/message";
import { Answer } from "../messages/Answer";
import { Question } from "../messages/Question";
import { guess } from "./chunks";
import type { Watch } from "./useWatch";

interface Props {
  items: readonly Shown[];
  conversation: Conversation;
  /** The id of the conversation's last message. */
  lastId: string | undefined;
  /** Drawn from the beginning, because it is in view then. */
  drawn: boolean;
  watch: Watch;
}

/** Some messages, drawn only while they are near the part of the page that is in view. */
export const Chunk = memo(
  function Chunk({ items, conversation, lastId, drawn, watch }: Props) {
    const [near, setNear] = useState(drawn);
    const height = useRef<number>(undefined);
    const place = useRef<HTMLDivElement>(null);
    useEffect(() => {
      const element = place.current;
      if (!element) return undefined;
      return watch(element, (isNear, tall) => {
        // Whoever writes a note there must not lose it by scrolling.
        if (!isNear && element.contains(document.activeElement)) return;
        if (!isNear) height.current = tall;
        startTransition(() => setNear(isNear));
      });
    }, [watch]);
    if (!near) {
      const ids = items.map(({ message }) => message.id).join(" ");
      const style = { height: `${height.current ?? guess(items)}px` };
      return <div ref={place} className="chunk" data-ids={ids} aria-hidden="true" style={style} />;
    }
    return (
      <div ref={place} className="chunk">
        {items.map((each) =>
          each.message.role === "user" ? (
            <Question key={each.message.id} shown={each} conversation={conversation} />
          ) : (
            <Answer key={each.message.id} shown={each} conversation={conversation} last={each.message.id === lastId} />
          ),
        )}
      </div>
    );
  },
  (before, after) =>
    before.conversation === after.conversation &&
    before.watch === after.watch &&
    before.items.length === after.items.length &&
    isLast(before) === isLast(after) &&
    before.items.every(({ message, variants }, place) => {
      const other = after.items[place];
      return other !== undefined && other.message === message && other.variants.length === variants.length;
    }),
);

function isLast({ items, lastId }: Props): string | undefined {
  return items.some(({ message }) => message.id === lastId) ? lastId : undefined;
}
