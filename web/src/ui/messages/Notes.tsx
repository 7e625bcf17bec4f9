import type { Note } from "../../client/message";
import { Icon } from "../icons";

/** What the user has noted on a message. */
export function Notes({ notes }: { notes: readonly Note[] }) {
  if (!notes.length) return null;
  return (
    <ul className="notes" aria-label="Your notes">
      {notes.map((note) => (
        <li key={note.id}>
          <Icon name="note" />
          <p>
            {note.content}
            {note.waiting && <span className="small late"> · waiting to be sent</span>}
          </p>
        </li>
      ))}
    </ul>
  );
}
