/** A conversation in the list. */
export interface Entry {
  id: string;
  title: string | undefined;
  /** Its first words, for when it has no title. */
  preview: string | undefined;
  updatedAt: number;
  status: "active" | "archived";
}

/** What the browser knows of a conversation. */
export interface Kept {
  id: string;
  becameId?: string;
  title?: string | undefined;
  preview?: string | undefined;
  updatedAt?: number;
  status?: Entry["status"] | "deleted";
}

/** What the server says of one. */
export interface Remote {
  id: string;
  title?: string | null;
  status?: Entry["status"] | "deleted";
  updatedAt?: string;
  createdAt?: string;
  /** 0 as long as nothing was said. */
  lastServerStanzaId?: number;
}

/** One entry for each conversation in which something was said; the server knows titles, this browser first words. */
export function merge(local: readonly Kept[], remote: readonly Remote[]): Entry[] {
  const entries = new Map<string, Entry>();
  for (const { id, becameId, title, preview, updatedAt, status } of local) {
    if (becameId === undefined && status !== "deleted" && (title || preview)) {
      entries.set(id, { id, title, preview, updatedAt: updatedAt ?? 0, status: status ?? "active" });
    }
  }
  for (const { id, title, status, updatedAt, createdAt, lastServerStanzaId } of remote) {
    if (status === "deleted") {
      entries.delete(id);
      continue;
    }
    const known = entries.get(id);
    // Somebody switched the microphone on and said nothing.
    if (lastServerStanzaId === 0 && !title && !known) continue;
    const at = utc(updatedAt ?? createdAt);
    entries.set(id, {
      id,
      title: title || known?.title,
      preview: known?.preview,
      updatedAt: Math.max(at, known?.updatedAt ?? 0),
      status: status ?? "active",
    });
  }
  return [...entries.values()].sort((one, other) => other.updatedAt - one.updatedAt);
}

function utc(time: string | undefined): number {
  if (!time) return 0;
  return Date.parse(/Z|[+-]\d\d:?\d\d$/.test(time) ? time : `${time}Z`) || 0;
}
