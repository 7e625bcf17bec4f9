import type { Memory } from "../../client/memories";

const NAMES: { readonly [type: string]: string } = {
  fact: "Facts",
  personal_fact: "About you",
  world_fact: "From documents",
  preference: "Preferences",
  event: "Events",
  plan: "Plans",
  relationship: "People",
  person: "People",
  instruction: "Instructions",
  experience: "Experiences",
  summary: "Summaries",
};

/** Memories by their type, in plain words; pinned ones first in each group. */
export function byType(memories: readonly Memory[]): [string, Memory[]][] {
  const groups = new Map<string, Memory[]>();
  for (const memory of memories) {
    const name = nameOf(memory.memoryType);
    groups.set(name, [...(groups.get(name) ?? []), memory]);
  }
  for (const group of groups.values()) group.sort((one, other) => Number(other.pinned) - Number(one.pinned));
  return [...groups].sort(([one], [other]) => (one === OTHER ? 1 : other === OTHER ? -1 : one.localeCompare(other)));
}

const OTHER = "Other";

function nameOf(type: string | null): string {
  if (!type) return OTHER;
  const words = type.replaceAll("_", " ");
  return NAMES[type] ?? words.charAt(0).toUpperCase() + words.slice(1);
}

/** Where a memory came from: words, and the place to look, if there is one. */
export function originOf({ sourceType, sourceInfo, createdAt }: Memory): { words: string; address?: string } {
  const when = new Date(createdAt).toLocaleDateString(undefined, { dateStyle: "medium" });
  const { conversationId, messageId, document } = sourceInfo;
  if (typeof document === "string") return { words: `From the document “${document}”, ${when}.` };
  if (typeof conversationId === "string") {
    const address = typeof messageId === "string" ? `${conversationId}/${messageId}` : conversationId;
    return { words: `Learned in a conversation, ${when}.`, address };
  }
  if (sourceType === "you") return { words: `Added by you, ${when}.` };
  return { words: sourceType ? `Added by ${sourceType}, ${when}.` : `Added ${when}.` };
}
