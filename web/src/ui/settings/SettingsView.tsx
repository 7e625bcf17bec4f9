import { type ReactNode, useState } from "react";

import type { Desk } from "../../client/desk";
import type { Settings } from "../../client/settings";
import { Switch } from "../Switch";
import { type Theme, THEMES, useTheme } from "../theme";
import { Account } from "./Account";
import { YourData } from "./YourData";
import { Tools } from "./Tools";
import { usePreferences } from "./usePreferences";
import "../styles/sheet.css";
import "./settings.css";

/** How Alicia looks, speaks and remembers, and what becomes of the user's data. */
export default function SettingsView({ desk }: { desk: Desk }) {
  const [settings, change] = usePreferences(desk.preferences);
  return (
    <div className="scroller" tabIndex={0} role="region" aria-label="Settings">
      <div className="sheet settings">
        <header>
          <div>
            <h2>Settings</h2>
          </div>
        </header>
        <Appearance />
        {settings ? (
          <>
            <Speech settings={settings} change={change} />
            <Group name="Memory">
              <Row name="Remember and recall" about="Off: nothing new is learned, and no answer uses what is known.">
                <Switch label="Remember and recall" on={settings.memory} onChange={(memory) => change({ memory })} />
              </Row>
            </Group>
          </>
        ) : (
          <p className="soft late">The server has not told your settings yet.</p>
        )}
        <Tools />
        <YourData desk={desk} />
        <Account />
      </div>
    </div>
  );
}

export function Group({ name, children }: { name: string; children: ReactNode }) {
  return (
    <section aria-label={name}>
      <h3>{name}</h3>
      <div className="rows">{children}</div>
    </section>
  );
}

export function Row({ name, about, children }: { name: string; about?: string | undefined; children: ReactNode }) {
  return (
    <div className="row">
      <div>
        <p>{name}</p>
        {about && <p className="small soft">{about}</p>}
      </div>
      {children}
    </div>
  );
}

const WORDS: Record<Theme, string> = { auto: "As the system", light: "Light", dark: "Dark" };

function Appearance() {
  const [theme, setTheme] = useTheme();
  return (
    <Group name="Appearance">
      <Row name="Theme">
        <span className="choices" role="radiogroup" aria-label="Theme">
          {THEMES.map((each) => (
            <label key={each}>
              <input type="radio" name="theme" checked={each === theme} onChange={() => setTheme(each)} />
              <span>{WORDS[each]}</span>
            </label>
          ))}
        </span>
      </Row>
    </Group>
  );
}

const LANGUAGES = ["ar", "de", "en", "es", "fr", "hi", "it", "ja", "ko", "nl", "pl", "pt", "ru", "tr", "uk", "zh"];

function Speech({ settings, change }: { settings: Settings; change: (change: Partial<Settings>) => void }) {
  const [speed, setSpeed] = useState(settings.speed);
  const [voice, setVoice] = useState(settings.voice ?? "");
  const names = new Intl.DisplayNames(undefined, { type: "language" });
  return (
    <Group name="Voice">
      <Row name="Voice" about="The name of a voice that the server has. Empty: its own.">
        <input
          aria-label="Voice"
          placeholder="Its own"
          value={voice}
          maxLength={200}
          onChange={(event) => setVoice(event.target.value)}
          onBlur={() => voice.trim() !== (settings.voice ?? "") && change({ voice: voice.trim() || null })}
          onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
        />
      </Row>
      <Row name="Speed" about={`${speed.toFixed(2).replace(/0$/, "")} times as fast as usual`}>
        <input
          type="range"
          aria-label="Speed"
          min={0.5}
          max={2}
          step={0.1}
          value={speed}
          onChange={(event) => setSpeed(Number(event.target.value))}
          onPointerUp={() => change({ speed })}
          onKeyUp={() => speed !== settings.speed && change({ speed })}
        />
      </Row>
      <Row name="Language" about="That you speak. A server with one language uses that.">
        <select aria-label="Language" value={settings.language ?? ""} onChange={(event) => change({ language: event.target.value || null })}>
          <option value="">Whatever is heard</option>
          {LANGUAGES.map((code) => (
            <option key={code} value={code}>
              {names.of(code)}
            </option>
          ))}
        </select>
      </Row>
      <Row name="Keep recordings" about="Off: what you say is kept as text, not as sound.">
        <Switch label="Keep recordings" on={settings.recording} onChange={(recording) => change({ recording })} />
      </Row>
    </Group>
  );
}
