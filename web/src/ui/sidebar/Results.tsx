import { useCallback } from "react";

import { type Hit, marked, search } from "../../client/search";
import type { Entry } from "../../client/shelf";
import { goTo } from "../route";
import { useLoad } from "../useLoad";
import { titleOf } from "./titles";

const PAUSE = 150;

interface Props {
  query: string;
  /** What is known of conversations that have no title yet. */
  entries: readonly Entry[];
  current: string;
  onOpen: () => void;
}

/** The conversations that have the words, each with the place where they are. */
export function Results({ query, entries, current, onOpen }: Props) {
  const load = useCallback(
    async (signal: AbortSignal) => {
      // Whoever is still typing has not asked yet.
      await new Promise((resolve) => setTimeout(resolve, PAUSE));
      signal.throwIfAborted();
      return { query, hits: await search(query, signal) };
    },
    [query],
  );
  const { value, trouble } = useLoad(load);
  if (trouble) return <p className="small soft">{trouble}</p>;
  if (!value) return null;
  return (
    <section aria-label="Found">
      <p className="small soft" role="status">
        {value.hits.length ? `${value.hits.length} found` : "Nothing found. Try other words."}
      </p>
      <ul>
        {value.hits.map((hit) => (
          <Found
            key={hit.id}
            hit={hit}
            title={hit.title || titleOf(entries.find(({ id }) => id === hit.id))}
            query={value.query}
            current={hit.id === current}
            onOpen={onOpen}
          />
        ))}
      </ul>
    </section>
  );
}

interface FoundProps {
  hit: Hit;
  title: string;
  query: string;
  current: boolean;
  onOpen: () => void;
}

function Found({ hit: { id, status, snippet }, title, query, current, onOpen }: FoundProps) {
  const address = snippet ? `${id}/${snippet.messageId}` : id;
  return (
    <li>
      <a
        href={`#${address}`}
        className="hit"
        aria-current={current ? "page" : undefined}
        onClick={(event) => {
          event.preventDefault();
          goTo(address);
          onOpen();
        }}
      >
        <strong>
          {title}
          {status === "archived" && <span className="soft"> · archived</span>}
        </strong>
        {snippet && <Snippet text={snippet.text} query={query} />}
      </a>
    </li>
  );
}

function Snippet({ text, query }: { text: string; query: string }) {
  const pieces = marked(text.replace(/[*_#`|]+/g, ""), query);
  return <span className="snippet">{pieces.map((piece, place) => (place % 2 ? <mark key={place}>{piece}</mark> : piece))}</span>;
}
