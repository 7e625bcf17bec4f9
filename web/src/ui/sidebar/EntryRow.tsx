import { useEffect, useRef, useState } from "react";

import { isDraft } from "../../client/conversation";
import type { Entry } from "../../client/shelf";
import { Menu } from "../Menu";
import { goTo } from "../route";
import { titleOf } from "./titles";
import type { Shelf } from "./useShelf";

interface Props {
  entry: Entry;
  current: boolean;
  shelf: Shelf;
  onOpen: () => void;
}

/** One conversation in the list. */
export function EntryRow({ entry, current, shelf, onOpen }: Props) {
  const [renaming, setRenaming] = useState(false);
  const title = titleOf(entry);
  if (renaming) {
    return (
      <li>
        <Rename
          title={title}
          onDone={(next) => {
            setRenaming(false);
            if (next && next !== title) shelf.rename(entry.id, next);
          }}
        />
      </li>
    );
  }
  const archived = entry.status === "archived";
  return (
    <li className="entry">
      <a
        href={`#${entry.id}`}
        aria-current={current ? "page" : undefined}
        onClick={(event) => {
          event.preventDefault();
          goTo(entry.id);
          onOpen();
        }}
      >
        {title}
      </a>
      {!isDraft(entry.id) && (
        <Menu
          label={`More for ${title}`}
          choices={[
            { name: "Rename", icon: "edit", run: () => setRenaming(true) },
            archived
              ? { name: "Put back", icon: "archive", run: () => shelf.unarchive(entry) }
              : { name: "Archive", icon: "archive", run: () => shelf.archive(entry) },
            { name: "Export", icon: "save", run: () => shelf.save(entry) },
            { name: "Delete", icon: "bin", danger: true, run: () => shelf.remove(entry) },
          ]}
        />
      )}
    </li>
  );
}

function Rename({ title, onDone }: { title: string; onDone: (title: string | undefined) => void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.select(), []);
  return (
    <input
      ref={field}
      className="rename"
      aria-label="New title"
      defaultValue={title}
      maxLength={200}
      onBlur={(event) => onDone(event.target.value.trim())}
      onKeyDown={(event) => {
        if (event.key === "Enter") event.currentTarget.blur();
        if (event.key !== "Escape") return;
        event.preventDefault();
        onDone(undefined);
      }}
    />
  );
}
