import { useEffect, useRef } from "react";

import type { Voice } from "../../client/voice";

const BARS = [0.55, 0.8, 1, 0.8, 0.55];

/** How loud it is: the user's voice, or Alicia's. */
export function Levels({ voice }: { voice: Voice }) {
  const place = useRef<HTMLSpanElement>(null);
  useEffect(() => {
    let frame = 0;
    const draw = () => {
      const { mine, hers } = voice.levels();
      place.current?.style.setProperty("--level", Math.max(mine, hers).toFixed(2));
      frame = requestAnimationFrame(draw);
    };
    draw();
    return () => cancelAnimationFrame(frame);
  }, [voice]);
  return (
    <span ref={place} className="levels" aria-hidden="true">
      {BARS.map((share, bar) => (
        <i key={bar} style={{ ["--share" as string]: share }} />
      ))}
    </span>
  );
}
