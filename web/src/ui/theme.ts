import { useSyncExternalStore } from "react";

export type Theme = "auto" | "light" | "dark";

const KEY = "alicia.theme";
export const THEMES: readonly Theme[] = ["auto", "light", "dark"];
const listeners = new Set<() => void>();

export function readTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return THEMES.find((each) => each === kept) ?? "auto";
}

/** Let the page have this theme; "auto" is whatever the system has. */
export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

function setTheme(theme: Theme): void {
  applyTheme(theme);
  localStorage.setItem(KEY, theme);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** The theme, and how to choose another. */
export function useTheme(): [Theme, (theme: Theme) => void] {
  return [useSyncExternalStore(subscribe, readTheme), setTheme];
}

/** The one after this, for a button that goes round. */
export function nextTheme(theme: Theme): Theme {
  return THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
}
