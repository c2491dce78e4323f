import { formatCount } from '../../../kernel/charts/charts.text.ts';
import { valuePlace } from '../query.titles.ts';
import { isAdditive } from './picture.shape.ts';
import { firstOf, nameOf, numberOf, type QueryPicture, titleOf, titleOfMeasure } from './picture.words.ts';

/** The parts of a bar or the lines of a picture, and what each is worth in a row. */
export interface PictureSeries {
  names: string[];
  /** Whether the last is what others hold together. */
  rest: boolean;
  /** What is to be said of those that are left out. */
  note: string | undefined;
  /** By number of the row, null for the others; what there is no group for is not in it. */
  rows: Map<number | null, (number | null | undefined)[]>;
}

/** Each measure a series. */
export function seriesOfMeasures(picture: QueryPicture, measures: number[]): PictureSeries {
  const { cells, shape } = picture;
  const places = measures.map((n) => shape.measures.indexOf(n));
  return {
    names: measures.map((n) => titleOfMeasure(picture, n)),
    rest: false,
    note: undefined,
    rows: new Map(cells.map(({ row, values }) => [row, places.map((at) => numberOf(values[at]))])),
  };
}

/** Each group of the dimensions for series a series, in the order of the metamodel; the rest together, if that adds up. */
export function seriesOfGroups(picture: QueryPicture): PictureSeries {
  const { cells, shape, metamodel, plan, query } = picture;
  const names = new Map(
    cells.flatMap(({ series, names }) => (series === null ? [] : [[series, names] as const])),
  );
  const place = (series: number) =>
    shape.series.map((n) => valuePlace(metamodel, plan.columns[n]!, names.get(series)![n]));
  const kept = [...names.keys()].sort((a, b) => {
    const [of, other] = [place(a), place(b)];
    const differs = of.findIndex((value, at) => value !== other[at]);
    return differs < 0 ? a - b : of[differs]! - other[differs]!;
  });
  const others = picture.series - kept.length;
  const rest = others > 0 && isAdditive(query.measures[shape.measures[0]!]!);
  const shown: (number | null)[] = rest ? [...kept, null] : kept;
  const rows: PictureSeries['rows'] = new Map();
  for (const { row, series, values } of cells) {
    const at = shown.indexOf(series);
    if (at < 0) continue;
    const known = rows.get(row) ?? shown.map(() => undefined);
    known[at] = numberOf(values[0]);
    rows.set(row, known);
  }
  return {
    names: [
      ...kept.map((series) => nameOf(picture, shape.series, names.get(series)!)),
      ...(rest ? [othersOf(others)] : []),
    ],
    rest,
    note:
      rest || others === 0
        ? undefined
        : `${titleOf(picture, shape.series)}: ${firstOf(kept.length, picture.series)}`,
    rows,
  };
}

/** What groups are called that are taken together. */
export const othersOf = (count: number): string =>
  `${formatCount(count)} ${count === 1 ? 'other' : 'others'}`;
