import { ask } from "./access";

/** A conversation that has the words, and the message that has them best. */
export interface Hit {
  id: string;
  title: string;
  status: "active" | "archived";
  snippet: { messageId: string; text: string } | null;
}

/** The conversations with any of the words in their titles or messages, best first. Throws Refused or Unavailable. */
export async function search(query: string, signal: AbortSignal): Promise<Hit[]> {
  const answer = await ask(`/api/v1/conversations?limit=50&query=${encodeURIComponent(query)}`, signal);
  return ((await answer.json()) as { items: Hit[] }).items;
}

/** A text in pieces; those at odd places are words of the query, as a reader would mark them. */
export function marked(text: string, query: string): string[] {
  const words = query.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  if (!words.length) return [text];
  // The server finds a word in other forms, too: whatever begins like it is marked whole.
  const stems = words.map((word) => word.replace(/(?<=\p{L}{3})(ing|ed|es|s)$/u, ""));
  return text.split(new RegExp(`(?<![\\p{L}\\p{N}])((?:${stems.join("|")})[\\p{L}\\p{N}]*)`, "giu"));
}
