import { useRef, useState } from "react";

interface Props {
  /** What the file is, for those who can't see. */
  label: string;
  accept: string;
  words: string;
  /** Its words until what `onFile` does is done. */
  busyWords: string;
  onFile: (file: File) => Promise<void>;
}

/** A button that lets the user choose a file. */
export function FileButton({ label, accept, words, busyWords, onFile }: Props) {
  const field = useRef<HTMLInputElement>(null);
  const [busy, setBusy] = useState(false);
  const take = async (file: File) => {
    setBusy(true);
    await onFile(file);
    setBusy(false);
  };
  return (
    <>
      <button type="button" className="quiet" disabled={busy} onClick={() => field.current?.click()}>
        {busy ? busyWords : words}
      </button>
      <input
        ref={field}
        hidden
        type="file"
        accept={accept}
        aria-label={label}
        onChange={(event) => {
          const file = event.target.files?.[0];
          // The same file may be chosen again.
          event.target.value = "";
          if (file) void take(file);
        }}
      />
    </>
  );
}
