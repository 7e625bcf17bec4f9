import { memo, useEffect, useRef, useState } from "react";

/** A formula: its source at once, and as soon as the typesetter is loaded, MathML, which needs no fonts or styles. */
export const Formula = memo(function Formula({ source, display }: { source: string; display: boolean }) {
  const place = useRef<HTMLSpanElement>(null);
  const [set, setSet] = useState(false);
  useEffect(() => {
    let wanted = true;
    import("katex").then(
      ({ default: katex }) => {
        if (!wanted || !place.current) return;
        const options = { displayMode: display, output: "mathml", throwOnError: false, strict: false, maxExpand: 200 } as const;
        katex.render(source, place.current, options);
        setSet(true);
      },
      () => undefined,
    );
    return () => {
      wanted = false;
    };
  }, [source, display]);
  return (
    <span className={display ? "math display" : "math"}>
      <span ref={place} hidden={!set} />
      {!set && <code>{source}</code>}
    </span>
  );
});
