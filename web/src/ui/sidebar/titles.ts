import type { Entry } from "../../client/shelf";

export function titleOf(entry: Pick<Entry, "title" | "preview"> | undefined): string {
  return entry?.title || entry?.preview?.split("\n")[0]?.replace(/[`*_#]/g, "") || "New conversation";
}
