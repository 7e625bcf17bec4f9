import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { signIn, signOut, whoAmI } from "./user";

/** A browser's storage, and a server that takes so many milliseconds to answer. */
function around(takes: number): void {
  const kept = new Map<string, string>();
  vi.stubGlobal("localStorage", {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => void kept.set(key, value),
    removeItem: (key: string) => void kept.delete(key),
  });
  server(takes);
}

function server(takes: number): void {
  vi.stubGlobal("fetch", (_: string, { signal }: { signal: AbortSignal }) => {
    return new Promise((resolve, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason as Error));
      setTimeout(() => resolve(Response.json({ user: "ada" })), takes);
    });
  });
}

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(AbortSignal, "timeout").mockImplementation((after) => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(new DOMException("", "TimeoutError")), after);
    return stop.signal;
  });
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

async function whoIsIt(): Promise<string> {
  const asking = whoAmI();
  await vi.advanceTimersByTimeAsync(60_000);
  return asking;
}

it("whoever comes for the first time waits for a slow server, and is known by the next", async () => {
  around(8_000);
  expect(await whoIsIt()).toBe("ada");
  server(100_000);
  expect(await whoIsIt()).toBe("ada");
});

it("whoever has signed out is nobody while the server is away", async () => {
  around(0);
  const signing = signIn("a token").then(() => whoAmI());
  await vi.advanceTimersByTimeAsync(1);
  expect(await signing).toBe("ada");
  const leaving = signOut();
  await vi.advanceTimersByTimeAsync(1);
  await leaving;
  server(100_000);
  expect(await whoIsIt()).toBe("local");
});
