import { useSyncExternalStore } from "react";

const ID = /^#((?:ac|draft)_[\w-]{21})$/;

function read(): string | undefined {
  return ID.exec(location.hash)?.[1];
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

/** The conversation in the address, if any. */
export function useRoute(): string | undefined {
  return useSyncExternalStore(subscribe, read);
}

export function goTo(id: string | undefined): void {
  location.hash = id ? `#${id}` : "";
}

/** The same place has another name now: the way back must not lead to the old one. */
export function renameHere(from: string, to: string): void {
  if (read() !== from) return;
  history.replaceState(null, "", `#${to}`);
  dispatchEvent(new HashChangeEvent("hashchange"));
}
