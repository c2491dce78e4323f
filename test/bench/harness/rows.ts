/** One figure of the bench beside its floor from the same run. */
export interface Row {
  figure: string;
  value: number;
  unit: string;
  /** What the value is held against, in the same unit; absent where the requirement is absolute. */
  floor?: number;
  /** In words, such as `at least 40 %`. */
  required: string;
  ok: boolean;
}

interface Figure {
  figure: string;
  value: number;
  unit: string;
  floor?: number;
}

const limit = ({ floor, unit }: Figure, bound: number) =>
  floor === undefined ? `${bound} ${unit}` : `${bound} x floor`;

/** A figure that must reach `bound` times its floor, or `bound` itself where it has none. */
export const atLeast = (figure: Figure, bound: number): Row => ({
  ...figure,
  required: `at least ${limit(figure, bound)}`,
  ok: figure.value >= bound * (figure.floor ?? 1),
});

/** A figure that must stay under `bound` times its floor, or under `bound` itself where it has none. */
export const under = (figure: Figure, bound: number): Row => ({
  ...figure,
  required: `under ${limit(figure, bound)}`,
  ok: figure.value < bound * (figure.floor ?? 1),
});

/** A figure that must lie from `low` to `high`. */
export const within = (figure: Figure, low: number, high: number): Row => ({
  ...figure,
  required: `${low} to ${high} ${figure.unit}`,
  ok: figure.value >= low && figure.value <= high,
});

const number = (value: number): string => {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 1 ? 2 : 4;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
};

/** The rows as a table of plain text: figure, value, floor, ratio, required, and ok or FAIL. */
export function formatRows(rows: Row[]): string {
  const cells = rows.map((row) => [
    row.figure,
    `${number(row.value)} ${row.unit}`,
    row.floor === undefined ? '' : `${number(row.floor)} ${row.unit}`,
    row.floor === undefined ? '' : number(row.value / row.floor),
    row.required,
    row.ok ? 'ok' : 'FAIL',
  ]);
  const all = [['figure', 'value', 'floor', 'ratio', 'required', ''], ...cells];
  const widths = all[0]!.map((_, column) => Math.max(...all.map((line) => line[column]!.length)));
  const numeric = new Set([1, 2, 3]);
  const lines = all.map((line) =>
    line
      .map((text, column) =>
        numeric.has(column) ? text.padStart(widths[column]!) : text.padEnd(widths[column]!),
      )
      .join('  ')
      .trimEnd(),
  );
  lines.splice(1, 0, widths.map((width) => '-'.repeat(width)).join('  '));
  return lines.join('\n');
}
