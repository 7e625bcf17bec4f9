/** What lets this tab into one room for a while. */
export interface Access {
  url: string;
  token: string;
  room: string;
  conversationId: string;
  identity: string;
}

/** Nobody answers, or somebody who asks us to come again: worth another try. */
export class Unavailable extends Error {
  override readonly name = "Unavailable";
}

/** The server answers no, and would again. */
export class Refused extends Error {
  override readonly name = "Refused";

  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

const PATIENCE = 10_000;

/** Ask the server for a way into a conversation's room, or into a new one's; it also sees to it that an agent comes. */
export async function knock(conversationId: string | undefined, device: string, signal: AbortSignal): Promise<Access> {
  const answer = await ask("/api/v1/tokens", signal, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ device, ...(conversationId && { conversationId }) }),
  });
  return (await answer.json()) as Access;
}

/** A call to the server; anything but success becomes `Unavailable` or `Refused`. */
export async function ask(path: string, signal: AbortSignal, init: RequestInit = {}, patience = PATIENCE): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(path, { ...init, cache: "no-store", signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]) });
  } catch (error) {
    signal.throwIfAborted();
    throw new Unavailable("The server does not answer.", { cause: error });
  }
  if (answer.ok) return answer;
  const problem = answer.headers.get("content-type")?.startsWith("application/problem+json");
  const detail = problem ? String(((await answer.json()) as { detail?: unknown }).detail ?? "") : "";
  const message = detail || `The server answered ${answer.status}.`;
  if (answer.status === 429 || answer.status >= 500 || (answer.status === 404 && !problem)) throw new Unavailable(message);
  throw new Refused(answer.status, message);
}
