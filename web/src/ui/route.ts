import { useMemo, useSyncExternalStore } from "react";

const PATTERN = /^#(?:((?:ac|draft)_[\w-]{21})(?:\/(am_[\w-]{21}))?|(memory)(?:\/(amem_[\w-]{21}))?|(settings))$/;

/** What the address names. Without a conversation it is a new one. */
export type Route =
  | { place: "conversation"; id?: string | undefined; messageId?: string | undefined }
  | { place: "memory"; id?: string | undefined }
  | { place: "settings" };

export function parse(hash: string): Route {
  const [, id, messageId, memory, memoryId, settings] = PATTERN.exec(hash) ?? [];
  if (memory) return { place: "memory", id: memoryId };
  if (settings) return { place: "settings" };
  return { place: "conversation", id, messageId };
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

export function useRoute(): Route {
  const hash = useSyncExternalStore(subscribe, () => location.hash);
  return useMemo(() => parse(hash), [hash]);
}

/** Go to a conversation, one of its messages (`ac_…/am_…`), a view, or without a name to a new conversation. */
export function goTo(name: string | undefined): void {
  location.hash = name ? `#${name}` : "";
}

/** The same place has another name now: the way back must not lead to the old one. An address without a name stands for `unnamed`. */
export function renameHere(from: string, to: string, unnamed: string): void {
  const here = parse(location.hash);
  if (here.place !== "conversation" || (here.id ?? unnamed) !== from) return;
  history.replaceState(null, "", `#${to}`);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
