import { useState } from "react";

import type { Library } from "../../client/library";
import type { Entry } from "../../client/shelf";
import { Icon, IconButton, type IconName } from "../icons";
import { goTo, type Route } from "../route";
import { nextTheme, type Theme, useTheme } from "../theme";
import { Entries } from "./Entries";
import { Results } from "./Results";
import type { Shelf } from "./useShelf";

interface Props {
  library: Library;
  entries: readonly Entry[];
  /** The id of the conversation in view. */
  current: string;
  place: Route["place"];
  shelf: Shelf;
  open: boolean;
  onNew: () => void;
  onClose: () => void;
}

const THEMES: Record<Theme, { icon: IconName; words: string }> = {
  auto: { icon: "auto", words: "Theme: as the system" },
  light: { icon: "sun", words: "Theme: light" },
  dark: { icon: "moon", words: "Theme: dark" },
};

/** The conversations, and the ways to the rest of the page. */
export function Sidebar({ library, entries, current, place, shelf, open, onNew, onClose }: Props) {
  const [theme, setTheme] = useTheme();
  const [query, setQuery] = useState("");
  const here = place === "conversation" ? current : "";
  return (
    <nav id="sidebar" className={open ? "sidebar open" : "sidebar"} aria-label="Conversations">
      <div className="brand">
        <img src="/alicia.svg" alt="" width="28" height="28" />
        <span>Alicia</span>
        <div className="only-narrow">
          <IconButton icon="close" label="Close the list" onClick={onClose} />
        </div>
      </div>
      <button type="button" className="new" onClick={onNew}>
        <Icon name="plus" /> New conversation
      </button>
      <label className="search">
        <Icon name="search" />
        <span className="hidden">Search in conversations</span>
        <input
          type="search"
          placeholder="Search"
          value={query}
          onChange={(event) => setQuery(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== "Escape" || !query) return;
            event.preventDefault();
            setQuery("");
          }}
        />
      </label>
      <div className="entries">
        {query.trim() ? (
          <Results query={query.trim()} entries={entries} current={here} onOpen={onClose} />
        ) : (
          <Entries library={library} entries={entries} current={here} shelf={shelf} onOpen={onClose} />
        )}
      </div>
      <footer>
        <Way icon="memory" name="Memory" to="memory" here={place === "memory"} onGo={onClose} />
        <Way icon="settings" name="Settings" to="settings" here={place === "settings"} onGo={onClose} />
        <IconButton icon={THEMES[theme].icon} label={THEMES[theme].words} onClick={() => setTheme(nextTheme(theme))} />
      </footer>
    </nav>
  );
}

function Way({ icon, name, to, here, onGo }: { icon: IconName; name: string; to: string; here: boolean; onGo: () => void }) {
  return (
    <a
      href={`#${to}`}
      className="way"
      aria-current={here ? "page" : undefined}
      onClick={(event) => {
        event.preventDefault();
        goTo(to);
        onGo();
      }}
    >
      <Icon name={icon} /> {name}
    </a>
  );
}
