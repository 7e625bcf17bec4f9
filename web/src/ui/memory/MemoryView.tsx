import { useState } from "react";

import type { Preferences } from "../../client/preferences";
import { Icon } from "../icons";
import { usePreferences } from "../settings/usePreferences";
import { Switch } from "../Switch";
import { Adding } from "./Adding";
import { Card } from "./Card";
import { byType } from "./groups";
import { type Memories, useMemories } from "./useMemories";
import "../styles/sheet.css";
import "./memory.css";

/** What Alicia knows: searched, corrected, rated, put away. */
export default function MemoryView({ preferences, wanted }: { preferences: Preferences; wanted: string | undefined }) {
  const [query, setQuery] = useState("");
  const [archived, setArchived] = useState(false);
  const [settings, change] = usePreferences(preferences);
  const memories = useMemories(query.trim(), archived, wanted);
  return (
    <div className="scroller" tabIndex={0} role="region" aria-label="Memory">
      <div className="sheet">
        <header>
          <div>
            <h2>What Alicia knows</h2>
            <p className="soft">Learned from your conversations, or added by you. What you correct counts from the next answer on.</p>
          </div>
          {settings && (
            <span className="labelled">
              <span className="small">{settings.memory ? "Memory is on" : "Memory is off"}</span>
              <Switch label="Memory" on={settings.memory} onChange={(memory) => change({ memory })} />
            </span>
          )}
        </header>
        {settings?.memory === false && (
          <p className="banner">Nothing is remembered or recalled until you switch memory on again. What is here stays.</p>
        )}
        <div className="tools">
          <label className="seek">
            <Icon name="search" />
            <span className="hidden">Search in memories</span>
            <input type="search" placeholder="Search by words or meaning" value={query} onChange={(event) => setQuery(event.target.value)} />
          </label>
          <button type="button" className="quiet" aria-pressed={archived} onClick={() => setArchived(!archived)} disabled={query.trim() !== ""}>
            {archived ? "Show those in use" : "Show archived"}
          </button>
        </div>
        <Adding memories={memories} />
        <List memories={memories} searched={query.trim() !== ""} archived={archived} wanted={wanted} />
      </div>
    </div>
  );
}

function List({ memories, searched, archived, wanted }: { memories: Memories; searched: boolean; archived: boolean; wanted: string | undefined }) {
  const { items, trouble, more, loadMore } = memories;
  if (trouble && !items) return <p className="soft">{trouble}</p>;
  if (!items) return <p className="soft late">Loading…</p>;
  if (!items.length) {
    const nothing = archived ? "Nothing is archived." : "Nothing is remembered yet.";
    return <p className="soft nothing">{searched ? "Nothing found. Try other words." : nothing}</p>;
  }
  // What was searched for stands in the order in which it fits.
  const groups: [string, typeof items][] = searched ? [["Best first", items]] : byType(items);
  return (
    <>
      {groups.map(([name, group]) => (
        <section key={name} aria-label={name}>
          <h3>
            {name} <span className="soft">{group.length}</span>
          </h3>
          <ul>
            {group.map((memory) => (
              <Card key={memory.id} memory={memory} memories={memories} wanted={memory.id === wanted} />
            ))}
          </ul>
        </section>
      ))}
      {more && (
        <button type="button" className="quiet" onClick={loadMore}>
          Show more
        </button>
      )}
    </>
  );
}
