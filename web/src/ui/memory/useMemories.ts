import { useCallback, useEffect, useMemo, useRef, useState } from "react";

import {
  addDocument,
  addMemory,
  type Change,
  changeMemory,
  deleteMemory,
  listMemories,
  type Memory,
  readMemory,
  restoreMemory,
  searchMemories,
} from "../../client/memories";
import { useTell, useTry } from "../toast";
import { count } from "../why/words";

const PAUSE = 200;

export interface Memories {
  /** Undefined until the first of them are there. */
  items: readonly Memory[] | undefined;
  trouble: string | undefined;
  more: boolean;
  loadMore: () => void;
  add: (content: string) => void;
  /** Resolves when the document is read, or has turned out to be unreadable. */
  addDocument: (file: File) => Promise<void>;
  change: (id: string, change: Change) => void;
  archive: (memory: Memory) => void;
  remove: (memory: Memory) => void;
}

interface State {
  items?: readonly Memory[];
  next?: string | null;
  trouble?: string;
}

/** The memories that fit the query, or all of them, newest first; `first` is shown whatever else is. */
export function useMemories(query: string, archived: boolean, first: string | undefined): Memories {
  const tell = useTell();
  const attempt = useTry();
  const [state, setState] = useState<State>({});
  const [round, setRound] = useState(0);
  const stop = useRef<AbortController>(undefined);
  useEffect(() => {
    const controller = new AbortController();
    stop.current = controller;
    const timer = setTimeout(
      () =>
        load(query, archived, first, controller.signal).then(setState, (error: unknown) => {
          if (!controller.signal.aborted) setState((before) => ({ ...before, trouble: String(error instanceof Error ? error.message : error) }));
        }),
      query ? PAUSE : 0,
    );
    return () => {
      clearTimeout(timer);
      controller.abort();
    };
  }, [query, archived, first, round]);

  const put = useCallback((memory: Memory) => {
    setState((before) => ({ ...before, items: before.items?.map((each) => (each.id === memory.id ? { ...each, ...memory } : each)) ?? [] }));
  }, []);
  const take = useCallback((id: string) => setState((before) => ({ ...before, items: before.items?.filter((each) => each.id !== id) ?? [] })), []);
  const giveBack = useCallback((memory: Memory, place: number) => {
    setState((before) => ({ ...before, items: before.items?.toSpliced(place, 0, memory) ?? [memory] }));
  }, []);

  const { items, next, trouble } = state;
  return useMemo(() => {
    const placeOf = (id: string) => items?.findIndex((each) => each.id === id) ?? 0;
    return {
      items,
      trouble,
      more: next != null,
      loadMore: () => {
        const { signal } = stop.current ?? new AbortController();
        if (next == null) return;
        void attempt(async () => {
          const page = await listMemories(archived, next, signal);
          setState((before) => (before.next === next ? { items: [...(before.items ?? []), ...page.items], next: page.next } : before));
        });
      },
      add: (content) => void attempt(async () => giveBack(await addMemory(content), 0)),
      addDocument: async (file) => {
        await attempt(async () => {
          const added = await addDocument(file);
          tell({ words: added ? `“${file.name}” is remembered, in ${count(added, "piece", "pieces")}.` : "All of it was known already." });
          setRound((before) => before + 1);
        });
      },
      change: (id, change) => void attempt(async () => put(await changeMemory(id, change))),
      archive: (memory) => {
        const place = placeOf(memory.id);
        const set = (value: boolean) => attempt(() => changeMemory(memory.id, { archived: value }));
        void set(!memory.archived).then((done) => {
          if (!done) return;
          take(memory.id);
          const undo = () => void set(memory.archived).then((undone) => undone && giveBack(memory, place));
          tell({ words: memory.archived ? "Memory is in use again." : "Memory archived.", action: { name: "Undo", run: undo } });
        });
      },
      remove: (memory) => {
        const place = placeOf(memory.id);
        void attempt(() => deleteMemory(memory.id)).then((done) => {
          if (!done) return;
          take(memory.id);
          const undo = () => void attempt(async () => giveBack(await restoreMemory(memory.id), place));
          tell({ words: "Memory deleted.", action: { name: "Undo", run: undo } });
        });
      },
    };
  }, [items, next, trouble, archived, attempt, tell, put, take, giveBack]);
}

async function load(query: string, archived: boolean, first: string | undefined, signal: AbortSignal): Promise<State> {
  if (query) return { items: await searchMemories(query, signal), next: null };
  const { items, next } = await listMemories(archived, null, signal);
  if (first === undefined || items.some(({ id }) => id === first)) return { items, next };
  const wanted = await readMemory(first, signal).catch(() => undefined);
  return { items: wanted ? [wanted, ...items] : items, next };
}
