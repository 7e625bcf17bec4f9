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
  left: "M14 6l-6 6 6 6",
  right: "M10 6l6 6-6 6",
  clock: "M12 7v5l3 2M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  alert: "M12 8v5M12 16.5v.1M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18z",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 3v1.5M12 19.5V21M4.5 12H3M21 12h-1.5M6.5 6.5l-1-1M18.5 18.5l-1-1M17.5 6.5l1-1M5.5 18.5l1-1",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z",
  auto: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 3v18M12 7.500h6.500M12 12h9M12 16.500h6.500",
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
