import { type RefObject, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";

const NEAR = 80;

/**
 * Keeps a scrolling element at its end while it grows, unless the reader has scrolled away.
 * `away` says so, `toEnd` brings them back, and `letGo` is for whoever scrolls somewhere else on their behalf.
 */
export function useStick(
  element: RefObject<HTMLElement | null>,
  content: unknown,
): { away: boolean; toEnd: () => void; letGo: () => void } {
  const sticks = useRef(true);
  const [away, setAway] = useState(false);
  const toEnd = useCallback(() => {
    sticks.current = true;
    setAway(false);
    element.current?.scrollTo({ top: element.current.scrollHeight });
  }, [element]);
  const letGo = useCallback(() => {
    sticks.current = false;
  }, []);
  useEffect(() => {
    const scroller = element.current;
    if (!scroller) return undefined;
    const look = () => {
      sticks.current = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
      setAway(!sticks.current);
    };
    const grow = new ResizeObserver(() => sticks.current && scroller.scrollTo({ top: scroller.scrollHeight }));
    scroller.addEventListener("scroll", look, { passive: true });
    grow.observe(scroller);
    if (scroller.firstElementChild) grow.observe(scroller.firstElementChild);
    return () => {
      scroller.removeEventListener("scroll", look);
      grow.disconnect();
    };
  }, [element]);
  useLayoutEffect(() => {
    if (sticks.current) element.current?.scrollTo({ top: element.current.scrollHeight });
  }, [element, content]);
  return { away, toEnd, letGo };
}
