import { useEffect, useState } from "react";

export type Health = "asking" | "well" | "unwell" | "silent";

const EVERY = 5_000;

/** One question to the server: is it there, and is it well? */
export async function askHealth(signal: AbortSignal, ask: typeof fetch = fetch): Promise<Health> {
  try {
    const answer = await ask("/healthz", { signal, cache: "no-store" });
    return answer.ok ? "well" : "unwell";
  } catch {
    return "silent";
  }
}

/** The server's health, asked again every few seconds while the page is shown. */
export function useHealth(): Health {
  const [health, setHealth] = useState<Health>("asking");
  useEffect(() => {
    const stop = new AbortController();
    const ask = async () => {
      const answer = await askHealth(stop.signal);
      if (!stop.signal.aborted) setHealth(answer);
    };
    void ask();
    const timer = setInterval(() => void ask(), EVERY);
    return () => {
      stop.abort();
      clearInterval(timer);
    };
  }, []);
  return health;
}
