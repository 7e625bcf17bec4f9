const PATHS = {
  plus: "M12 5v14M5 12h14",
  menu: "M4 7h16M4 12h16M4 17h10",
  close: "M6 6l12 12M18 6 6 18",
  send: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  copy: "M9 9h10v11H9zM15 9V4H5v11h4",
  check: "M5 13l4.5 4.5L19 7",
  again: "M20 11a8 8 0 1 0-2.3 6.2M20 4v7h-7",
  edit: "M4 20h4L19 9l-4-4L4 16zM13.5 6.5l4 4",
  note: "M5 4h14v11l-5 5H5zM19 15h-5v5",
  why: "M9.2 9a2.9 2.9 0 1 1 4.6 2.4c-1.2.8-1.8 1.3-1.8 2.6M12 17.5v.1M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  up: "M6 14.5l6-6 6 6",
  below: "M6 9.5l6 6 6-6",
  left: "M14 6l-6 6 6 6",
  right: "M10 6l6 6-6 6",
  clock: "M12 7v5l3 2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  alert: "M12 8v5M12 16.5v.1M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 3v1.5M12 19.5V21M4.5 12H3M21 12h-1.5M6.5 6.5l-1-1M18.5 18.5l-1-1M17.5 6.5l1-1M5.5 18.5l1-1",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4.5 4.5",
  more: "M5.5 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0M11.4 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0M17.3 12a.6.6 0 1 0 1.2 0 .6.6 0 1 0-1.2 0",
  archive: "M4 5h16v4H4zM5.5 9v10h13V9M10 13h4",
  save: "M12 4v11M7 11l5 5 5-5M5 20h14",
  bin: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  memory: "M12 5a4 4 0 0 0-7 2.5A3.5 3.5 0 0 0 4 14a4 4 0 0 0 8 1.5zM12 5a4 4 0 0 1 7 2.5A3.5 3.5 0 0 1 20 14a4 4 0 0 1-8 1.5zM12 5v14.5",
  settings: "M4 7h9M17 7h3M15 9a2 2 0 1 0 0-4 2 2 0 0 0 0 4zM4 17h3M11 17h9M9 19a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  pin: "M9 4h6l-1 6 3 3H7l3-3zM12 13v7",
  play: "M8 5.5v13l10.5-6.5z",
  pause: "M8 5v14M16 5v14",
  mic: "M12 15a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v6a3 3 0 0 0 3 3zM6 11.5a6 6 0 0 0 12 0M12 17.5V21",
  mute: "M9 9v3a3 3 0 0 0 4.5 2.600M15 11V6a3 3 0 0 0-5.800-1M6 11.5a6 6 0 0 0 9.5 4.900M18 11.5a6 6 0 0 1-.6 2.600M12 17.5V21M4 4l16 16",
  auto: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 3v18M12 7.5h6.5M12 12h9M12 16.5h6.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

export function StopIcon() {
  return (
    <svg className="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <rect x="5" y="5" width="14" height="14" rx="3" fill="currentColor" stroke="none" />
    </svg>
  );
}

interface ButtonProps {
  icon: IconName;
  label: string;
  onClick: () => void;
  disabled?: boolean;
  pressed?: boolean;
  expanded?: boolean;
}

/** A button that shows only a picture; its label is its name and its tooltip. */
export function IconButton({ icon, label, onClick, disabled, pressed, expanded }: ButtonProps) {
  return (
    <button
      type="button"
      className="icon-button"
      aria-label={label}
      title={label}
      onClick={onClick}
      disabled={disabled}
      aria-pressed={pressed}
      aria-expanded={expanded}
    >
      <Icon name={icon} />
    </button>
  );
}
