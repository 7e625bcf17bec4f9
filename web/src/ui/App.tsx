import { Suspense, useCallback, useEffect, useState, useSyncExternalStore } from "react";

import type { Conversation } from "../client/conversation";
import type { Desk } from "../client/desk";
import { ConversationView } from "./ConversationView";
import { IconButton } from "./icons";
import { part } from "./part";
import { goTo, renameHere, useRoute } from "./route";
import { Sidebar } from "./sidebar/Sidebar";
import { titleOf } from "./sidebar/titles";
import { useShelf } from "./sidebar/useShelf";

const MemoryView = part(() => import("./memory/MemoryView"));
const SettingsView = part(() => import("./settings/SettingsView"));

/** The page: the list of conversations, and the one that the address names, or a new one. */
export function App({ desk }: { desk: Desk }) {
  const route = useRoute();
  const [draft, setDraft] = useState(() => desk.draft());
  const [listOpen, setListOpen] = useState(false);
  const entries = useSyncExternalStore(desk.library.subscribe, desk.library.list);
  const named = route.place === "conversation" ? route.id : undefined;
  const id = named ? desk.library.real(named) : draft;
  const talking = route.place === "conversation";
  const conversation = useConversation(desk, talking ? id : undefined);
  const entry = entries.find((each) => each.id === id);
  const title = { conversation: titleOf(entry), memory: "Memory", settings: "Settings" }[route.place];

  useEffect(() => {
    desk.onNamed = (from, to) => {
      // Whoever speaks may be answered before the address has been told of the draft.
      renameHere(from, to, draft);
      setDraft((current) => (current === from ? desk.draft() : current));
    };
  }, [desk, draft]);
  useEffect(() => {
    document.title = entry || !talking ? `${title} · Alicia` : "Alicia";
  }, [entry, talking, title]);
  useEffect(() => {
    if (!listOpen) return undefined;
    const before = document.activeElement;
    document.querySelector<HTMLElement>("#sidebar button")?.focus();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, [listOpen]);
  useEffect(() => {
    if (!listOpen) return undefined;
    const keys = (event: KeyboardEvent) => {
      if (event.key === "Escape" && !event.defaultPrevented) setListOpen(false);
    };
    addEventListener("keydown", keys);
    return () => removeEventListener("keydown", keys);
  }, [listOpen]);

  const begin = useCallback(() => {
    setDraft(desk.draft());
    goTo(undefined);
    setListOpen(false);
  }, [desk]);
  const gone = useCallback((deleted: string) => deleted === named && begin(), [named, begin]);
  const shelf = useShelf(desk.library, gone);
  return (
    <div className="page">
      <Sidebar
        library={desk.library}
        entries={entries}
        current={id}
        place={route.place}
        shelf={shelf}
        open={listOpen}
        onNew={begin}
        onClose={() => setListOpen(false)}
      />
      {listOpen && <button type="button" className="scrim" aria-label="Close the list" onClick={() => setListOpen(false)} />}
      <main inert={listOpen}>
        <header>
          <div className="only-narrow">
            <IconButton icon="menu" label="Conversations" onClick={() => setListOpen(true)} expanded={listOpen} />
          </div>
          <h1>{title}</h1>
          <div className="only-narrow">
            <IconButton icon="plus" label="New conversation" onClick={begin} />
          </div>
        </header>
        <Suspense>
          {route.place === "memory" && <MemoryView preferences={desk.preferences} wanted={route.id} />}
          {route.place === "settings" && <SettingsView desk={desk} />}
        </Suspense>
        {conversation && (
          <ConversationView
            key={draftKey(conversation)}
            conversation={conversation}
            reachable={desk.library.reachable}
            messageId={talking ? route.messageId : undefined}
            onBegin={() => {
              if (!named) goTo(conversation.id);
            }}
          />
        )}
      </main>
    </div>
  );
}

function useConversation(desk: Desk, id: string | undefined): Conversation | undefined {
  const [conversation, setConversation] = useState<Conversation>();
  useEffect(() => {
    if (id === undefined) return undefined;
    const opened = desk.open(id);
    setConversation(opened);
    return () => desk.leave(opened);
  }, [desk, id]);
  return conversation?.id === id ? conversation : undefined;
}

const keys = new WeakMap<Conversation, string>();

/** A conversation keeps its view, and the words in it, when it gets its id. */
function draftKey(conversation: Conversation): string {
  const key = keys.get(conversation) ?? conversation.id;
  keys.set(conversation, key);
  return key;
}
