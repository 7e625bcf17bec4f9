import { useCallback, useEffect, useSyncExternalStore } from "react";

import type { Preferences } from "../../client/preferences";
import type { Settings } from "../../client/settings";
import { useTry } from "../toast";

/** The user's settings, and how to change them. */
export function usePreferences(preferences: Preferences): [Settings | undefined, (change: Partial<Settings>) => void] {
  const attempt = useTry();
  const settings = useSyncExternalStore(preferences.subscribe, preferences.current);
  useEffect(() => {
    void preferences.read();
  }, [preferences]);
  const change = useCallback((wanted: Partial<Settings>) => void attempt(() => preferences.change(wanted)), [attempt, preferences]);
  return [settings, change];
}
