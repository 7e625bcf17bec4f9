import { ask, Unavailable } from "./access";
import { remove } from "./calls";

const KEY = "alicia.user";
const LOCAL = "local";
const PATIENCE = 3_000;
/** Whoever is not known here has nothing to look at meanwhile. */
const FIRST_PATIENCE = 30_000;

/**
 * Whose conversations these are, so that people who share a browser do not share what it keeps.
 *
 * While the server is away it is whoever was here last. Throws Refused with status 401 if somebody has to sign in.
 */
export async function whoAmI(): Promise<string> {
  const known = localStorage.getItem(KEY);
  const patience = known === null ? FIRST_PATIENCE : PATIENCE;
  try {
    const answer = await ask("/api/v1/me", AbortSignal.timeout(patience), {}, patience);
    const { user } = (await answer.json()) as { user: string };
    localStorage.setItem(KEY, user);
    return user;
  } catch (error) {
    const away = error instanceof Unavailable || (error instanceof DOMException && error.name === "TimeoutError");
    if (!away) throw error;
    return known ?? LOCAL;
  }
}

/** Sign in with a token; the server keeps it in a cookie that no script can read. Throws Refused or Unavailable. */
export async function signIn(token: string): Promise<void> {
  await ask("/api/v1/session", AbortSignal.timeout(10_000), {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ token }),
  });
}

/** Sign out; what this browser keeps is not shown until they sign in again. Throws Refused or Unavailable. */
export async function signOut(): Promise<void> {
  await remove("/session");
  localStorage.removeItem(KEY);
}
