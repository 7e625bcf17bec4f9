import { useEffect, useRef, useState } from "react";

import type { Memory } from "../../client/memories";
import { Icon, IconButton } from "../icons";
import { Menu } from "../Menu";
import { Field } from "../messages/Field";
import { Details } from "./Details";
import { Stars } from "./Stars";
import type { Memories } from "./useMemories";

/** One memory, and what can be done with it. */
export function Card({ memory, memories, wanted }: { memory: Memory; memories: Memories; wanted: boolean }) {
  const [open, setOpen] = useState(wanted);
  const [editing, setEditing] = useState(false);
  const place = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (!wanted) return;
    setOpen(true);
    place.current?.scrollIntoView({ block: "center" });
  }, [wanted]);
  if (editing) {
    return (
      <li>
        <Field
          label="Edit this memory"
          value={memory.content}
          done="Save"
          onCancel={() => setEditing(false)}
          onDone={(content) => {
            setEditing(false);
            memories.change(memory.id, { content });
          }}
        />
      </li>
    );
  }
  return (
    <li ref={place} className={wanted ? "card found" : "card"}>
      <div className="card-line">
        <p>
          {memory.pinned && (
            <span className="pinned" title="Pinned">
              <Icon name="pin" />
              <span className="hidden">Pinned: </span>
            </span>
          )}
          {memory.content}
        </p>
        <Menu
          label="More"
          choices={[
            { name: "Edit", icon: "edit", run: () => setEditing(true) },
            { name: memory.pinned ? "Unpin" : "Pin", icon: "pin", run: () => memories.change(memory.id, { pinned: !memory.pinned }) },
            { name: memory.archived ? "Use again" : "Archive", icon: "archive", run: () => memories.archive(memory) },
            { name: "Delete", icon: "bin", danger: true, run: () => memories.remove(memory) },
          ]}
        />
      </div>
      <div className="card-line">
        <Stars rating={memory.userRating} onRate={(userRating) => memories.change(memory.id, { userRating })} />
        {memory.tags.map((tag) => (
          <span key={tag} className="tag">
            {tag}
          </span>
        ))}
        {memory.score !== undefined && <span className="small soft">{Math.round(memory.score * 100)}% match</span>}
        <span className="end">
          <IconButton icon={open ? "up" : "below"} label="Where from, where used" onClick={() => setOpen(!open)} expanded={open} />
        </span>
      </div>
      {open && <Details memory={memory} />}
    </li>
  );
}
