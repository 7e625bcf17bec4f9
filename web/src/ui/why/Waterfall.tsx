import type { Stage, Waterfall as Turn } from "../../client/waterfall";
import { duration } from "./words";

/** A picture of a turn: each stage a row, from left to right in time. */
export function Waterfall({ turn: { stages, total } }: { turn: Turn }) {
  return (
    <div className="waterfall">
      <ol>
        {stages.map((stage, place) => (
          <Row key={place} stage={stage} total={total} />
        ))}
      </ol>
      <p className="axis" aria-hidden="true">
        <span>0</span>
        <span>{duration(total / 2)}</span>
        <span>{duration(total)}</span>
      </p>
    </div>
  );
}

function Row({ stage: { name, spans }, total }: { stage: Stage; total: number }) {
  const from = spans[0]?.from ?? 0;
  const took = spans.reduce((sum, span) => sum + span.to - span.from, 0);
  return (
    <li>
      <span className="name">{name}</span>
      <span className="track" aria-hidden="true">
        {spans.map((span, place) => (
          <i
            key={place}
            title={span.text}
            style={{ insetInlineStart: `${(100 * span.from) / total}%`, width: `${(100 * (span.to - span.from)) / total}%` }}
          />
        ))}
      </span>
      <span className="took">
        {spans.length > 1 && <span className="hidden">{spans.length} of them, </span>}
        {duration(took)}
        <span className="hidden">, begun after {duration(from)}</span>
      </span>
    </li>
  );
}
