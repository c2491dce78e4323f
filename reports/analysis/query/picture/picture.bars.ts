import { formatCount } from '../../../kernel/charts/charts.text.ts';
import type { BarsChart, ChartUnit } from '../../../kernel/charts/charts.types.ts';
import { othersOf, seriesOfGroups, seriesOfMeasures } from './picture.series.ts';
import { isAdditive } from './picture.shape.ts';
import {
  firstOf,
  headOf,
  nameOf,
  noteOf,
  type QueryPicture,
  titleOf,
  titleOfMeasure,
} from './picture.words.ts';

/** Rows of bars: measures beside each other, groups as parts of a whole where they add up. */
export function barsOf(picture: QueryPicture, unit: ChartUnit, measures: number[]): BarsChart {
  const { query, shape } = picture;
  const parted = shape.series.length > 0;
  const additive = measures.map((n) => isAdditive(query.measures[n]!));
  const series = parted ? seriesOfGroups(picture) : seriesOfMeasures(picture, measures);
  const names = new Map(
    picture.cells.flatMap(({ row, names }) => (row === null ? [] : [[row, names] as const])),
  );
  const kept = [...names.keys()].sort((a, b) => a - b);
  const others = picture.rows - kept.length;
  const together = others > 0 && additive.includes(true);
  const valuesOf = (row: number | null) => series.names.map((_, at) => series.rows.get(row)?.[at] ?? null);
  const rest = valuesOf(null).map((value, at) => (additive[parted ? 0 : at] ? value : null));
  return {
    kind: 'bars',
    title: headOf(picture, measures),
    ...noteOf(picture, [
      together ? takenTogether(picture, kept.length) : firstOf(kept.length, picture.rows),
      series.note,
    ]),
    itemAxis: titleOf(picture, shape.axis),
    valueAxis: (parted ? measures.slice(0, 1) : measures).map((n) => titleOfMeasure(picture, n)).join(', '),
    unit,
    series: series.names,
    beside: parted ? !additive[0] : true,
    rest: series.rest,
    items: [
      ...kept.map((row) => ({ name: nameOf(picture, shape.axis, names.get(row)!), values: valuesOf(row) })),
      ...(together ? [{ name: othersOf(others), values: rest }] : []),
    ],
  };
}

const takenTogether = ({ shape, rows }: QueryPicture, drawn: number): string =>
  `The ${shape.order === 'asked' ? 'first' : 'greatest'} ${formatCount(drawn)} of ${formatCount(rows)}, the others together`;
