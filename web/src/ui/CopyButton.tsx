import { useEffect, useState } from "react";

import { IconButton } from "./icons";

/** Puts a text on the clipboard, and says so for a moment. */
export function CopyButton({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return undefined;
    const timer = setTimeout(() => setCopied(false), 1_600);
    return () => clearTimeout(timer);
  }, [copied]);
  const copy = () => {
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => undefined,
    );
  };
  return <IconButton icon={copied ? "check" : "copy"} label={copied ? "Copied" : label} onClick={copy} />;
}
