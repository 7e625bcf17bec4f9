import type { ReactNode } from "react";

import type { Desk } from "../../client/desk";
import { Switch } from "../Switch";
import { type Theme, THEMES, useTheme } from "../theme";
import { Account } from "./Account";
import { Speech } from "./Speech";
import { Tools } from "./Tools";
import { usePreferences } from "./usePreferences";
import { YourData } from "./YourData";
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
