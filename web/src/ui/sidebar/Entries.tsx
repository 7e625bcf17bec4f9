import { useEffect, useRef, useState } from "react";

import type { Library } from "../../client/library";
import type { Entry } from "../../client/shelf";
import { Icon } from "../icons";
import { byAge } from "./ages";
import { EntryRow } from "./EntryRow";
import type { Shelf } from "./useShelf";

interface Props {
  library: Library;
  entries: readonly Entry[];
  current: string;
  shelf: Shelf;
  onOpen: () => void;
}

/** The conversations by age: those in use, or those that were put away. */
export function Entries({ library, entries, current, shelf, onOpen }: Props) {
  const [status, setStatus] = useState<Entry["status"]>("active");
  const listed = entries.filter((entry) => entry.status === status);
  const archived = entries.length - entries.filter((entry) => entry.status === "active").length;
  const back = status === "archived";
  return (
    <>
      {back && <h2>Archived</h2>}
      {listed.length === 0 && <p className="small soft">{back ? "Nothing is archived." : "Your conversations will be listed here."}</p>}
      {byAge(listed, new Date()).map(([age, group]) => (
        <section key={age} aria-label={age}>
          <h2>{age}</h2>
          <ul>
            {group.map((entry) => (
              <EntryRow key={entry.id} entry={entry} current={entry.id === current} shelf={shelf} onOpen={onOpen} />
            ))}
          </ul>
        </section>
      ))}
      {library.more && <More library={library} count={entries.length} />}
      {(back || archived > 0) && (
        <button type="button" className="way" onClick={() => setStatus(back ? "active" : "archived")}>
          <Icon name={back ? "left" : "archive"} /> {back ? "All conversations" : `Archived (${archived})`}
        </button>
      )}
    </>
  );
}

/** Whoever scrolls this far wants to see older ones. */
function More({ library, count }: { library: Library; count: number }) {
  const place = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    const stop = new AbortController();
    const observer = new IntersectionObserver(([entry]) => entry?.isIntersecting && void library.loadMore(stop.signal));
    if (place.current) observer.observe(place.current);
    return () => {
      stop.abort();
      observer.disconnect();
    };
  }, [library, count]);
  return (
    <p ref={place} className="small soft">
      Loading older ones…
    </p>
  );
}
