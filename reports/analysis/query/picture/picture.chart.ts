import { formatDate } from '../../../kernel/charts/charts.text.ts';
import type {
  Chart,
  ChartUnit,
  ChartWorkspace,
  FiguresChart,
  SingleChart,
} from '../../../kernel/charts/charts.types.ts';
import { barsOf } from './picture.bars.ts';
import { linesOf } from './picture.lines.ts';
import {
  firstOf,
  headOf,
  nameOf,
  noteOf,
  numberOf,
  type QueryPicture,
  titleOfMeasure,
  unitOf,
} from './picture.words.ts';

/** The picture of a query's answer. */
export function queryChart(picture: QueryPicture): Chart {
  const { shape } = picture;
  if (shape.kind === 'figures') return figuresOf(picture);
  const panels = byUnit(picture).map(({ unit, measures }) =>
    shape.kind === 'bars' ? barsOf(picture, unit, measures) : linesOf(picture, unit, measures),
  );
  const [only, ...others] = panels as [SingleChart, ...SingleChart[]];
  return others.length === 0 ? only : { kind: 'panels', title: headOf(picture, shape.measures), panels };
}

/** Measures of one unit share a picture: lengths of others do not compare. */
function byUnit(picture: QueryPicture): { unit: ChartUnit; measures: number[] }[] {
  const units: { unit: ChartUnit; measures: number[] }[] = [];
  for (const n of picture.shape.measures) {
    const unit = unitOf(picture, n);
    const known = units.find((one) => one.unit === unit);
    if (known) known.measures.push(n);
    else units.push({ unit, measures: [n] });
  }
  return units;
}

/** The measures as they are: of all cards, or of the first groups where no length could show them. */
function figuresOf(picture: QueryPicture): FiguresChart {
  const { cells, shape, groups, workspace } = picture;
  const kept = cells.filter(({ row }) => row !== null);
  return {
    kind: 'figures',
    title: headOf(picture, shape.measures),
    ...noteOf(picture, [firstOf(kept.length, groups)]),
    items: kept.flatMap(({ names, values }) =>
      shape.measures.map((n, at) => {
        const group = nameOf(picture, shape.axis, names);
        const title = titleOfMeasure(picture, n);
        const value = values[at]!;
        return {
          name: group === '' ? title : shape.measures.length > 1 ? `${group}: ${title}` : group,
          value: numberOf(value),
          unit: unitOf(picture, n),
          ...(typeof value === 'string' ? { text: dateOf(value, workspace) } : {}),
        };
      }),
    ),
  };
}

/** A day or moment as the workspace writes days; a text that is none as it is. */
function dateOf(value: string, workspace: ChartWorkspace): string {
  const time = Date.parse(value);
  return Number.isNaN(time) ? value : formatDate(time, workspace);
}
