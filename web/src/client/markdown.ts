import { History } from "./history";
import type { Message } from "./message";
import { Transcript } from "./transcript";

/** A conversation as a Markdown text: the branches that its newest messages are on. Throws Refused or Unavailable. */
export async function asMarkdown(id: string, title: string, signal: AbortSignal): Promise<string> {
  const history = new History(id);
  const transcript = new Transcript();
  while (!history.ended) transcript.prepend((await history.older(signal)).messages);
  return [`# ${title}`, ...transcript.shown.map(({ message }) => part(message)), ""].join("\n\n");
}

function part({ role, text, time }: Message): string {
  const when = time === undefined ? "" : ` · ${new Date(time).toISOString().slice(0, 16).replace("T", " ")}`;
  return `**${role === "user" ? "You" : "Alicia"}**${when}\n\n${text}`;
}

/** A title as a file may be named. */
export function fileName(title: string): string {
  return `${title.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "").slice(0, 60) || "conversation"}.md`;
}
