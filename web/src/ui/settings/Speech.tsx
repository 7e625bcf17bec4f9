import { useEffect, useState } from "react";

import type { Settings } from "../../client/settings";
import { Switch } from "../Switch";
import { Group, Row } from "./SettingsView";
import { VoiceChoice } from "./VoiceChoice";

const LANGUAGES = ["ar", "de", "en", "es", "fr", "hi", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "uk", "zh"];

/** How Alicia speaks and listens. */
export function Speech({ settings, change }: { settings: Settings; change: (change: Partial<Settings>) => void }) {
  const { voice, speed, language, recording } = settings;
  const names = new Intl.DisplayNames(undefined, { type: "language" });
  const languages = language === null || LANGUAGES.includes(language) ? LANGUAGES : [language, ...LANGUAGES];
  return (
    <Group name="Voice">
      <VoiceChoice voice={voice} onChange={(next) => change({ voice: next })} />
      <Speed speed={speed} onChange={(next) => change({ speed: next })} />
      <Row name="Language" about="That you speak. A server with one language uses that.">
        <select aria-label="Language" value={language ?? ""} onChange={(event) => change({ language: event.target.value || null })}>
          <option value="">Any</option>
          {languages.map((code) => (
            <option key={code} value={code}>
              {nameOf(names, code)}
            </option>
          ))}
        </select>
      </Row>
      <Row name="Keep recordings" about="Off: what you say is kept as text, not as sound.">
        <Switch label="Keep recordings" on={recording} onChange={(on) => change({ recording: on })} />
      </Row>
    </Group>
  );
}

function Speed({ speed, onChange }: { speed: number; onChange: (speed: number) => void }) {
  const [moved, setMoved] = useState<number>();
  useEffect(() => setMoved(undefined), [speed]);
  const shown = moved ?? speed;
  const words = `${shown.toFixed(1)} ×`;
  const keep = () => shown !== speed && onChange(shown);
  return (
    <Row name="Speed" about="Of speech; 1.0 is the voice’s own.">
      <span className="slider">
        <input
          type="range"
          aria-label="Speed"
          aria-valuetext={words}
          min={0.5}
          max={2}
          step={0.1}
          value={shown}
          onChange={(event) => setMoved(Number(event.target.value))}
          onPointerUp={keep}
          onKeyUp={keep}
        />
        <output aria-hidden="true">{words}</output>
      </span>
    </Row>
  );
}

/** Whoever set it elsewhere may have written anything. */
function nameOf(names: Intl.DisplayNames, code: string): string {
  try {
    return names.of(code) ?? code;
  } catch {
    return code;
  }
}
