import { useCallback, useEffect, useState } from "react";

export interface Loaded<T> {
  value: T | undefined;
  /** Why the last attempt brought nothing, in words for the user. */
  trouble: string | undefined;
  again: () => void;
}

/** What `load` brings, asked for anew whenever `load` is another function; the last value stays until then. */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [{ value, trouble }, set] = useState<{ value?: T; trouble?: string }>({});
  const [attempt, setAttempt] = useState(0);
  useEffect(() => {
    const stop = new AbortController();
    load(stop.signal).then(
      (value) => set({ value }),
      (error: unknown) => {
        if (!stop.signal.aborted) set((before) => ({ ...before, trouble: error instanceof Error ? error.message : String(error) }));
      },
    );
    return () => stop.abort();
  }, [load, attempt]);
  return { value, trouble, again: useCallback(() => setAttempt((count) => count + 1), []) };
}
