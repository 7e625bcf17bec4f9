import type { Shown } from "../../client/message";
import { IconButton } from "../icons";

/** Steps through the variants of a message. */
export function Stepper({ shown: { message, variants }, onChoose }: { shown: Shown; onChoose: (id: string) => void }) {
  if (variants.length < 2) return null;
  const place = variants.indexOf(message.id);
  const step = (by: number) => {
    const id = variants[place + by];
    if (id) onChoose(id);
  };
  return (
    <div className="stepper" role="group" aria-label="Versions of this message">
      <IconButton icon="left" label="Earlier version" onClick={() => step(-1)} disabled={place === 0} />
      <span>
        {place + 1} / {variants.length}
      </span>
      <IconButton icon="right" label="Later version" onClick={() => step(1)} disabled={place === variants.length - 1} />
    </div>
  );
}
