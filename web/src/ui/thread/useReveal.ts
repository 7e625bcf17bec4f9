import { type RefObject, useEffect } from "react";

import type { Conversation } from "../../client/conversation";

const PATIENCE = 60;

/** Bring the message of this id into view, once it is there. */
export function useReveal(conversation: Conversation, scroller: RefObject<HTMLElement | null>, id: string | undefined): void {
  useEffect(() => {
    if (id === undefined) return undefined;
    let frame = 0;
    let tries = 0;
    const look = () => {
      const element = scroller.current?.querySelector<HTMLElement>(`[data-id="${id}"]`);
      const chunk = element ?? scroller.current?.querySelector<HTMLElement>(`[data-ids~="${id}"]`);
      chunk?.scrollIntoView({ block: "center" });
      if (element) {
        element.classList.add("found");
        return;
      }
      tries += 1;
      if (tries < PATIENCE) frame = requestAnimationFrame(look);
    };
    let current = true;
    void conversation.find(id).then((found) => {
      if (found && current) frame = requestAnimationFrame(look);
    });
    return () => {
      current = false;
      cancelAnimationFrame(frame);
    };
  }, [conversation, scroller, id]);
}
