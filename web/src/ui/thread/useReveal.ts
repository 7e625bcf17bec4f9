import { type RefObject, useEffect } from "react";

import type { Conversation } from "../../client/conversation";

/** In milliseconds: a message that is in no branch shown is never drawn. */
const PATIENCE = 10_000;

/** Bring the message of this id into view, once it is there; `letGo` is told before the page is scrolled. */
export function useReveal(
  conversation: Conversation,
  scroller: RefObject<HTMLElement | null>,
  id: string | undefined,
  letGo: () => void,
): void {
  useEffect(() => {
    if (id === undefined) return undefined;
    let frame = 0;
    let end = 0;
    const look = () => {
      const element = scroller.current?.querySelector<HTMLElement>(`[data-id="${id}"]`);
      const chunk = element ?? scroller.current?.querySelector<HTMLElement>(`[data-ids~="${id}"]`);
      // The news of a scroll comes a frame later, and what grows until then would take the page back to its end.
      if (chunk) letGo();
      chunk?.scrollIntoView({ block: "center" });
      if (element) {
        element.classList.add("found");
        return;
      }
      if (performance.now() < end) frame = requestAnimationFrame(look);
    };
    let current = true;
    void conversation.find(id).then((found) => {
      if (!found || !current) return;
      end = performance.now() + PATIENCE;
      frame = requestAnimationFrame(look);
    });
    return () => {
      current = false;
      cancelAnimationFrame(frame);
    };
  }, [conversation, scroller, id, letGo]);
}
