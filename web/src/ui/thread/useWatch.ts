import { type RefObject, useCallback, useEffect, useRef } from "react";

const MARGIN = 1_500;

type Listener = (near: boolean, height: number) => void;

/** Tells when an element comes near the part of the scroller that is in view, or leaves it; returns how to stop. */
export type Watch = (element: Element, listener: Listener) => () => void;

export function useWatch(scroller: RefObject<HTMLElement | null>): Watch {
  const listeners = useRef(new Map<Element, Listener>());
  const observer = useRef<IntersectionObserver>(undefined);
  const watch = useCallback<Watch>(
    (element, listener) => {
      // Children run their effects before their parents, so whoever comes first makes it.
      observer.current ??= new IntersectionObserver(
        (entries) => {
          for (const { target, isIntersecting, boundingClientRect } of entries) {
            listeners.current.get(target)?.(isIntersecting, boundingClientRect.height);
          }
        },
        { root: scroller.current, rootMargin: `${MARGIN}px 0px` },
      );
      listeners.current.set(element, listener);
      observer.current.observe(element);
      return () => {
        listeners.current.delete(element);
        observer.current?.unobserve(element);
      };
    },
    [scroller],
  );
  useEffect(
    () => () => {
      observer.current?.disconnect();
      observer.current = undefined;
    },
    [],
  );
  return watch;
}
