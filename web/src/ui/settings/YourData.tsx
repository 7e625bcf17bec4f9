import { useState } from "react";

import type { Desk } from "../../client/desk";
import { importArchive } from "../../client/settings";
import { FileButton } from "../FileButton";
import { useTell, useTry } from "../toast";
import { count } from "../why/words";
import { Group, Row } from "./SettingsView";

const WORDS = "erase everything";

/** Taking all that there is away, bringing it back, and getting rid of it. */
export function YourData({ desk }: { desk: Desk }) {
  const [asking, setAsking] = useState(false);
  return (
    <Group name="Your data">
      <Row name="Export" about="Everything as one archive: conversations, memories, recordings.">
        <a className="quiet" href="/api/v1/export" download="alicia.zip">
          Download
        </a>
      </Row>
      <Import desk={desk} />
      <Row name="Erase everything" about="Conversations, memories, recordings and settings, really and for good.">
        <button type="button" className="quiet danger" aria-expanded={asking} onClick={() => setAsking(!asking)}>
          Erase…
        </button>
      </Row>
      {asking && <Confirm desk={desk} onCancel={() => setAsking(false)} />}
    </Group>
  );
}

function Import({ desk }: { desk: Desk }) {
  const tell = useTell();
  const attempt = useTry();
  const bring = async (file: File) => {
    await attempt(async () => {
      const { conversations, memories } = await importArchive(file);
      const parts = [count(conversations, "conversation", "conversations"), count(memories, "memory", "memories")].filter(Boolean);
      tell({ words: parts.length ? `Brought in: ${parts.join(" and ")}.` : "All of it was here already." });
      await desk.library.refresh(new AbortController().signal);
    });
  };
  return (
    <Row name="Import" about="An archive of Alicia’s. What is here already stays as it is.">
      <FileButton label="Archive" accept=".zip,application/zip" words="Choose a file" busyWords="Bringing in…" onFile={bring} />
    </Row>
  );
}

function Confirm({ desk, onCancel }: { desk: Desk; onCancel: () => void }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const attempt = useTry();
  const ready = text.trim().toLowerCase() === WORDS && !busy;
  const erase = async () => {
    setBusy(true);
    if (await attempt(() => desk.erase())) {
      location.hash = "";
      location.reload();
    }
    setBusy(false);
  };
  return (
    <form
      className="row confirm"
      onSubmit={(event) => {
        event.preventDefault();
        if (ready) void erase();
      }}
    >
      <label>
        <span>
          This can’t be undone. To go on, type <strong>{WORDS}</strong>.
        </span>
        <input value={text} autoFocus autoComplete="off" onChange={(event) => setText(event.target.value)} />
      </label>
      <span>
        <button type="button" className="quiet" onClick={onCancel}>
          Cancel
        </button>
        <button type="submit" className="primary danger" disabled={!ready}>
          {busy ? "Erasing…" : "Erase everything"}
        </button>
      </span>
    </form>
  );
}
