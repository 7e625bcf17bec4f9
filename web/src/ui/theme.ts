import { useEffect, useState } from "react";

export type Theme = "auto" | "light" | "dark";

const KEY = "alicia.theme";
const ORDER: Theme[] = ["auto", "light", "dark"];

export function readTheme(): Theme {
  const kept = localStorage.getItem(KEY);
  return ORDER.find((each) => each === kept) ?? "auto";
}

/** Let the page have this theme; "auto" is whatever the system has. */
export function applyTheme(theme: Theme): void {
  if (theme === "auto") delete document.documentElement.dataset["theme"];
  else document.documentElement.dataset["theme"] = theme;
}

/** The theme, and a switch to the next one. */
export function useTheme(): [Theme, () => void] {
  const [theme, setTheme] = useState(readTheme);
  useEffect(() => {
    applyTheme(theme);
    localStorage.setItem(KEY, theme);
  }, [theme]);
  return [theme, () => setTheme(ORDER[(ORDER.indexOf(theme) + 1) % ORDER.length] ?? "auto")];
}
