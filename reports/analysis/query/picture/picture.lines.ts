import { formatCount, formatValue } from '../../../kernel/charts/charts.text.ts';
import { spanAfter } from '../../../kernel/charts/charts.time.ts';
import type { ChartUnit, LinesChart } from '../../../kernel/charts/charts.types.ts';
import { seriesOfGroups, seriesOfMeasures } from './picture.series.ts';
import { isAdditive, type PictureShape } from './picture.shape.ts';
import { headOf, noteOf, numberOf, type QueryPicture, titleOf, titleOfMeasure } from './picture.words.ts';

const DAY_MS = 86_400_000;

/** Lines over time. Where no group was, a count is zero and an average unknown. */
export function linesOf(picture: QueryPicture, unit: ChartUnit, measures: number[]): LinesChart {
  const { query, shape, cells, workspace } = picture;
  const { step } = shape;
  const [axis] = shape.axis;
  const series = shape.series.length > 0 ? seriesOfGroups(picture) : seriesOfMeasures(picture, measures);
  const moments = new Map<number, number>();
  let undated: number | null = null;
  let drawn = 0;
  for (const { row, names, values } of cells) {
    if (row === null) continue;
    const time = momentOf(names[axis!]);
    if (Number.isNaN(time)) undated = (undated ?? 0) + (numberOf(values[0]) ?? 0);
    else moments.set(time, row);
  }
  drawn = moments.size;
  const times = withNeighbours(
    [...moments.keys()].sort((a, b) => a - b),
    step,
  );
  const nothing = measures.map((n) => {
    const { fn } = query.measures[n]!;
    // groups that were left out by `having` may have been there
    return query.having.length === 0 && (isAdditive(query.measures[n]!) || fn === 'distinct') ? 0 : null;
  });
  const [first] = measures;
  const known = undated !== null && first === shape.measures[0] && isAdditive(query.measures[first!]!);
  const all = picture.rows - (undated === null ? 0 : 1);
  return {
    kind: 'lines',
    title: headOf(picture, measures),
    ...noteOf(picture, [
      drawn < all ? `The latest ${formatCount(drawn)} of ${formatCount(all)} moments` : undefined,
      undated === null
        ? undefined
        : `Not drawn: without a date${known ? ` (${formatValue(undated, unit, workspace)})` : ''}`,
      series.note,
    ]),
    valueAxis: measures.map((n) => titleOfMeasure(picture, n)).join(', '),
    unit,
    timeAxis: titleOf(picture, shape.axis),
    ...(step && step !== 'day' ? { step } : {}),
    rest: series.rest,
    times: times.map((time) => new Date(time).toISOString()),
    series: series.names.map((name, at) => ({
      name,
      values: times.map((time) => {
        const row = moments.get(time);
        const value = row === undefined ? undefined : series.rows.get(row)?.[at];
        return value === undefined ? nothing[shape.series.length > 0 ? 0 : at]! : value;
      }),
    })),
  };
}

/** `2026`, `2026-Q3`, `2026-07`, a day or a moment, in milliseconds since 1970; NaN for what is none of them. */
function momentOf(value: unknown): number {
  if (typeof value !== 'string') return Number.NaN;
  const quarter = /^(\d{4})-Q([1-4])$/.exec(value);
  if (!quarter) return Date.parse(value);
  return Date.parse(`${quarter[1]}-${String(Number(quarter[2]) * 3 - 2).padStart(2, '0')}-01`);
}

/** Where spans lie between two that have groups, the first and the last of them: what lies between is as they are. */
function withNeighbours(times: number[], step: PictureShape['step']): number[] {
  if (!step) return times;
  const beside = (time: number, count: number) =>
    step === 'day' ? time + count * DAY_MS : spanAfter(time, step, count);
  return times.flatMap((time, at) => {
    const before = times[at - 1];
    if (before === undefined) return [time];
    const [from, to] = [beside(before, 1), beside(time, -1)];
    if (from >= time) return [time];
    return from < to ? [from, to, time] : [from, time];
  });
}
