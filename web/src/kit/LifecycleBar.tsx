import { type Lifecycle, spans, today } from './lifecycle.ts';

const DAY = 86_400_000;
const timeOf = (day: string) => Date.parse(day) / DAY;

interface LifecycleBarProps {
  lifecycle: Lifecycle | null;
  width?: number;
  /** Days before and after today that the bar shows. */
  days?: number;
}

/** A small bar of a card's phases around today; empty without any. */
export function LifecycleBar({ lifecycle, width = 80, days = 5 * 365 }: LifecycleBarProps) {
  const now = timeOf(today());
  const from = now - days;
  const x = (day: string) => Math.min(width, Math.max(0, ((timeOf(day) - from) / (2 * days)) * width));
  if (!lifecycle || Object.keys(lifecycle).length === 0) return <span className="muted">–</span>;
  return (
    <svg width={width} height={12} aria-hidden="true">
      <line x1={0} x2={width} y1={6} y2={6} stroke="var(--hairlineStrong)" />
      {spans(lifecycle).map(({ phase, from: begin, to }) =>
        phase === 'endOfLife' ? (
          <path key={phase} d={`M${x(begin) - 4} 6l4 -4l4 4l-4 4z`} fill={`var(--phase-${phase})`} />
        ) : (
          <rect
            key={phase}
            x={x(begin)}
            y={3}
            width={Math.max(0, (to ? x(to) : width) - x(begin))}
            height={6}
            fill={`var(--phase-${phase})`}
            fillOpacity={phase === 'plan' ? 0.45 : 1}
            rx={1}
          />
        ),
      )}
      <line x1={width / 2} x2={width / 2} y1={0} y2={12} stroke="var(--text)" />
    </svg>
  );
}
