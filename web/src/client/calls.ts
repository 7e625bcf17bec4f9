import { ask } from "./access";

const JSON_HEADERS = { "content-type": "application/json" };

/** A call of the HTTP interface whose answer is JSON. Throws Refused or Unavailable. */
export async function call<T>(method: "GET" | "POST" | "PATCH", path: string, body?: object, signal?: AbortSignal): Promise<T> {
  const init = body === undefined ? { method } : { method, headers: JSON_HEADERS, body: JSON.stringify(body) };
  const answer = await ask(`/api/v1${path}`, signal ?? new AbortController().signal, init);
  return (await answer.json()) as T;
}

/** A call that removes something. Throws Refused or Unavailable. */
export async function remove(path: string): Promise<void> {
  await ask(`/api/v1${path}`, new AbortController().signal, { method: "DELETE" });
}
