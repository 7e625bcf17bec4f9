import { useMemo } from "react";

import type { Library } from "../../client/library";
import { asMarkdown, fileName } from "../../client/markdown";
import type { Entry } from "../../client/shelf";
import { download } from "../download";
import { useTell, useTry } from "../toast";
import { titleOf } from "./titles";

export interface Shelf {
  rename: (id: string, title: string) => void;
  archive: (entry: Entry) => void;
  unarchive: (entry: Entry) => void;
  remove: (entry: Entry) => void;
  save: (entry: Entry) => void;
}

const { signal } = new AbortController();

/** What can be done with a conversation in the list; whatever takes it away can be undone. */
export function useShelf(library: Library, onGone: (id: string) => void): Shelf {
  const tell = useTell();
  const attempt = useTry();
  return useMemo(() => {
    const set = (id: string, status: Entry["status"]) => attempt(() => library.change(id, { status }, signal));
    const undo = (entry: Entry) => ({ name: "Undo", run: () => void set(entry.id, entry.status) });
    return {
      rename: (id, title) => void attempt(() => library.change(id, { title }, signal)),
      archive: async (entry) => {
        if (await set(entry.id, "archived")) tell({ words: "Conversation archived.", action: undo(entry) });
      },
      unarchive: async (entry) => {
        if (await set(entry.id, "active")) tell({ words: "Conversation is back in the list.", action: undo(entry) });
      },
      remove: async (entry) => {
        if (!(await attempt(() => library.delete(entry.id, signal)))) return;
        onGone(entry.id);
        tell({ words: "Conversation deleted.", action: undo(entry) });
      },
      save: (entry) =>
        void attempt(async () => {
          const title = titleOf(entry);
          download(fileName(title), await asMarkdown(entry.id, title, signal), "text/markdown");
        }),
    };
  }, [library, tell, attempt, onGone]);
}
