import type { Entry } from "../client/library";
import { goTo } from "./route";
import { Icon, IconButton } from "./icons";
import { type Theme, useTheme } from "./theme";
import { byAge } from "./ages";

interface Props {
  entries: readonly Entry[];
  current: string;
  open: boolean;
  onNew: () => void;
  onClose: () => void;
}

const THEMES: Record<Theme, { icon: "auto" | "sun" | "moon"; words: string }> = {
  auto: { icon: "auto", words: "Theme: as the system" },
  light: { icon: "sun", words: "Theme: light" },
  dark: { icon: "moon", words: "Theme: dark" },
};

/** The conversations, and what belongs to the whole page. */
export function Sidebar({ entries, current, open, onNew, onClose }: Props) {
  const [theme, nextTheme] = useTheme();
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
      <div className="entries">
        {entries.length === 0 && <p className="small soft">Your conversations will be listed here.</p>}
        {byAge(entries, new Date()).map(([age, group]) => (
          <section key={age} aria-label={age}>
            <h2>{age}</h2>
            <ul>
              {group.map((entry) => (
                <li key={entry.id}>
                  <a
                    href={`#${entry.id}`}
                    aria-current={entry.id === current ? "page" : undefined}
                    onClick={(event) => {
                      event.preventDefault();
                      goTo(entry.id);
                      onClose();
                    }}
                  >
                    {titleOf(entry)}
                  </a>
                </li>
              ))}
            </ul>
          </section>
        ))}
      </div>
      <footer>
        <button type="button" className="theme" onClick={nextTheme}>
          <Icon name={THEMES[theme].icon} /> {THEMES[theme].words}
        </button>
      </footer>
    </nav>
  );
}

export function titleOf(entry: Pick<Entry, "title" | "preview"> | undefined): string {
  return entry?.title || entry?.preview?.split("\n")[0]?.replace(/[`*_#]/g, "") || "New conversation";
}
