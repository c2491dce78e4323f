import { type KeyboardEvent, useState } from 'react';

/** A cell: its line, and its column from 0. */
export interface Place {
  line: number;
  column: number;
}

/** The cells from one corner to the other. */
interface Range {
  lines: [number, number];
  columns: [number, number];
}

const sorted = (a: number, b: number): [number, number] => (a < b ? [a, b] : [b, a]);

/** The cell that has the focus, and the range that Shift stretches from there. */
export interface GridCursor {
  active: Place;
  range: Range;
  /** Whether somebody has chosen a cell since the page was opened. */
  hasMoved: boolean;
  /** Moves to a cell; `stretches` keeps the other corner of the range. */
  go(place: Place, stretches?: boolean): void;
}

const start = { active: { line: 0, column: 0 }, anchor: { line: 0, column: 0 }, hasMoved: false };

export function useGridCursor(): GridCursor {
  const [{ active, anchor, hasMoved }, set] = useState(start);
  return {
    active,
    hasMoved,
    range: {
      lines: sorted(active.line, anchor.line),
      columns: sorted(active.column, anchor.column),
    },
    go: (place, stretches = false) =>
      set(({ anchor: from }) => ({ active: place, anchor: stretches ? from : place, hasMoved: true })),
  };
}

interface GridSize {
  lines: number;
  columns: number;
  /** Lines that fit on the screen. */
  page: number;
}

/** Where a key leads from a cell; undefined for keys that do not move. */
export function placeAfter(
  event: KeyboardEvent,
  from: Place,
  { lines, columns, page }: GridSize,
): Place | undefined {
  const isFar = event.ctrlKey || event.metaKey;
  const steps: Record<string, [line: number, column: number]> = {
    ArrowDown: [isFar ? lines : 1, 0],
    ArrowUp: [isFar ? -lines : -1, 0],
    ArrowRight: [0, isFar ? columns : 1],
    ArrowLeft: [0, isFar ? -columns : -1],
    PageDown: [page, 0],
    PageUp: [-page, 0],
    Home: [isFar ? -lines : 0, -columns],
    End: [isFar ? lines : 0, columns],
    ...(isFar ? {} : { j: [1, 0], k: [-1, 0] }),
  };
  const step = steps[event.key];
  if (!step) return undefined;
  const within = (value: number, size: number) => Math.min(size - 1, Math.max(0, value));
  return { line: within(from.line + step[0], lines), column: within(from.column + step[1], columns) };
}
