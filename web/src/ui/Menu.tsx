import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";

import { Icon, IconButton, type IconName } from "./icons";

export interface Choice {
  name: string;
  icon: IconName;
  run: () => void;
  danger?: boolean;
}

/** A button that opens a list of things to do. Arrow keys move in it, Escape closes it. */
export function Menu({ label, choices }: { label: string; choices: readonly Choice[] }) {
  const [at, setAt] = useState<{ top: number; right: number; anchor: number }>();
  const list = useRef<HTMLUListElement>(null);
  const button = useRef<HTMLDivElement>(null);
  const id = useId();
  const close = () => {
    setAt(undefined);
    button.current?.querySelector("button")?.focus();
  };
  useEffect(() => {
    if (!at) return undefined;
    list.current?.querySelector("button")?.focus();
    const elsewhere = ({ target }: Event) => {
      if (!(target instanceof Node && button.current?.contains(target))) setAt(undefined);
    };
    // It does not move along, so it must not stay when its button goes.
    const moved = () => {
      if (button.current?.getBoundingClientRect().top !== at.anchor) setAt(undefined);
    };
    addEventListener("pointerdown", elsewhere);
    addEventListener("scroll", moved, true);
    addEventListener("resize", moved);
    return () => {
      removeEventListener("pointerdown", elsewhere);
      removeEventListener("scroll", moved, true);
      removeEventListener("resize", moved);
    };
  }, [at]);
  const open = () => {
    const place = button.current?.getBoundingClientRect();
    if (!place) return;
    const height = choices.length * 38 + 12;
    const top = place.bottom + height > innerHeight ? place.top - height - 4 : place.bottom + 4;
    setAt({ top, right: Math.max(8, innerWidth - place.right), anchor: place.top });
  };
  const keys = (event: KeyboardEvent) => {
    const buttons = [...(list.current?.querySelectorAll("button") ?? [])];
    const place = buttons.findIndex((each) => each === document.activeElement);
    const next = { ArrowDown: place + 1, ArrowUp: place - 1, Home: 0, End: -1 }[event.key];
    if (next !== undefined) buttons.at(next % buttons.length)?.focus();
    else if (event.key === "Escape" || event.key === "Tab") close();
    else return;
    event.preventDefault();
  };
  return (
    <div className="menu" ref={button} onKeyDown={at && keys}>
      <IconButton icon="more" label={label} onClick={() => (at ? close() : open())} expanded={at !== undefined} />
      {at && (
        <ul ref={list} id={id} role="menu" aria-label={label} style={{ top: `${at.top}px`, right: `${at.right}px` }}>
          {choices.map(({ name, icon, run, danger }) => (
            <li key={name} role="none">
              <button
                type="button"
                role="menuitem"
                tabIndex={-1}
                className={danger ? "danger" : undefined}
                onClick={() => {
                  close();
                  run();
                }}
              >
                <Icon name={icon} /> {name}
              </button>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
