import { useCallback, useState } from "react";

import { listVoices } from "../../client/settings";
import { useLoad } from "../useLoad";
import { Row } from "./SettingsView";

const ANOTHER = "\0another";

/** The voices that the server tells of, and where it may have others, a field for their names. */
export function VoiceChoice({ voice, onChange }: { voice: string | null; onChange: (voice: string | null) => void }) {
  const { value, trouble } = useLoad(useCallback((signal: AbortSignal) => listVoices(signal), []));
  const [naming, setNaming] = useState(false);
  const told = value?.names ?? [];
  const names = voice === null || told.includes(voice) ? told : [voice, ...told];
  const others = value?.others === true || trouble !== undefined;
  const name = (wanted: string) => {
    setNaming(false);
    if (wanted !== (voice ?? "")) onChange(wanted || null);
  };
  return (
    <Row name="Voice" about={naming ? "The name of a voice that the server has." : undefined}>
      {naming ? (
        <input
          aria-label="Name of the voice"
          autoFocus
          defaultValue={voice ?? ""}
          maxLength={200}
          onBlur={(event) => name(event.target.value.trim())}
          onKeyDown={(event) => {
            if (event.key === "Enter") event.currentTarget.blur();
            if (event.key === "Escape") setNaming(false);
          }}
        />
      ) : (
        <select
          aria-label="Voice"
          value={voice ?? ""}
          onChange={({ target }) => (target.value === ANOTHER ? setNaming(true) : onChange(target.value || null))}
        >
          <option value="">Default</option>
          {names.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
          {others && <option value={ANOTHER}>Another…</option>}
        </select>
      )}
    </Row>
  );
}
