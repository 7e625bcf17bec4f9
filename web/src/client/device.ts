import { newId } from "./ids";

const KEY = "alicia.device";

/** This tab's name among the user's devices. It survives a reload, and a duplicated tab gets one of its own. */
export async function nameDevice(): Promise<string> {
  const kept = sessionStorage.getItem(KEY);
  const name = kept && (await claim(kept)) ? kept : newId("web").slice(0, 16);
  if (name !== kept) await claim(name);
  sessionStorage.setItem(KEY, name);
  return name;
}

/** Hold a lock as long as this page lives; false if another page has it. */
function claim(name: string): Promise<boolean> {
  // A page that is not served securely has no locks; then two tabs that share a name take turns.
  if (!("locks" in navigator)) return Promise.resolve(true);
  return new Promise((resolve) => {
    void navigator.locks.request(`alicia.device:${name}`, { ifAvailable: true }, (lock) => {
      resolve(lock !== null);
      return lock && new Promise<never>(() => undefined);
    });
  });
}

/** Run `work` while no other tab runs work of the same name; waits for its turn. */
export function alone(name: string, signal: AbortSignal, work: () => Promise<void>): Promise<void> {
  const locks = globalThis.navigator?.locks;
  if (!locks) return work();
  return locks.request(`alicia.${name}`, { signal }, work);
}
