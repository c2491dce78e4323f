/** One figure of the bench beside its baseline from the same run. */
export interface Row {
  figure: string;
  value: number;
  unit: string;
  /** What the value is compared with, in the same unit; absent where the requirement is absolute. */
  baseline?: number | undefined;
  /** In words, such as `at least 40 %`. */
  required: string;
  ok: boolean;
}

type Bound = (figure: string, value: number, unit: string, bound: number, baseline?: number) => Row;

const compared =
  (words: string, isMet: (value: number, bound: number) => boolean): Bound =>
  (figure, value, unit, bound, baseline) => ({
    ...{ figure, value, unit, baseline },
    required: `${words} ${baseline === undefined ? `${bound} ${unit}` : `${bound} x baseline`}`,
    ok: isMet(value, bound * (baseline ?? 1)),
  });

/** A figure that must reach `bound` times its baseline, or `bound` itself where it has none. */
export const atLeast = compared('at least', (value, bound) => value >= bound);

/** A figure that must stay under `bound` times its baseline, or under `bound` itself where it has none. */
export const under = compared('under', (value, bound) => value < bound);

/** A figure that must lie from `low` to `high`; be exactly `low` unless `high` is given. */
export const within = (figure: string, value: number, unit: string, low: number, high = low): Row => ({
  ...{ figure, value, unit },
  required: `${low} to ${high} ${unit}`,
  ok: value >= low && value <= high,
});

const number = (value: number): string => {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 2 : 4;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
};

/** The rows as a table of plain text: figure, value, baseline, ratio, required, and ok or FAIL. */
export function formatRows(rows: Row[]): string {
  const cells = rows.map(({ figure, value, unit, baseline, required, ok }) => [
    figure,
    `${number(value)} ${unit}`,
    baseline === undefined ? '' : `${number(baseline)} ${unit}`,
    baseline === undefined ? '' : number(value / baseline),
    required,
    ok ? 'ok' : 'FAIL',
  ]);
  const all = [['figure', 'value', 'baseline', 'ratio', 'required', ''], ...cells];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((line) => line[column]!.length)));
  const isNumeric = (column: number) => column >= 1 && column <= 3;
  const lines = all.map((line) =>
    line
      .map((text, at) => (isNumeric(at) ? text.padStart(widths[at]!) : text.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '));
  return lines.join('\n');
}
