import { useCallback } from "react";

import { type Memory, type Use, usesOf } from "../../client/memories";
import { goTo } from "../route";
import { useLoad } from "../useLoad";
import { originOf } from "./groups";

/** Where a memory came from, and the answers that it was used for. */
export function Details({ memory }: { memory: Memory }) {
  const { value, trouble } = useLoad(useCallback((signal: AbortSignal) => usesOf(memory.id, signal), [memory.id]));
  const { words, address } = originOf(memory);
  const uses = value?.filter(({ action }) => action === "retrieved");
  return (
    <div className="details small">
      <p>
        {words} {address && <Go to={address}>Show it</Go>}
      </p>
      {trouble && <p className="soft">{trouble}</p>}
      {uses && (uses.length === 0 ? <p className="soft">Not used for an answer yet.</p> : <Uses uses={uses} />)}
    </div>
  );
}

function Uses({ uses }: { uses: readonly Use[] }) {
  return (
    <>
      <p className="soft">Used for {uses.length === 1 ? "one answer" : `${uses.length} answers`}:</p>
      <ul>
        {uses.map(({ id, conversationId, messageId, messageContent, similarityScore, createdAt }) => (
          <li key={id}>
            <Go to={`${conversationId}/${messageId}`}>{short(messageContent) || "Show it"}</Go>
            <span className="soft">
              {" · "}
              {moment(createdAt)}
              {similarityScore !== null && ` · ${Math.round(similarityScore * 100)}% alike`}
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

function Go({ to, children }: { to: string; children: string }) {
  return (
    <a href={`#${to}`} onClick={(event) => (event.preventDefault(), goTo(to))}>
      {children}
    </a>
  );
}

const LONGEST = 80;

function short(words: string): string {
  return words.length > LONGEST ? `${words.slice(0, LONGEST).trimEnd()}…` : words;
}

function moment(time: string): string {
  return new Date(time).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });
}
