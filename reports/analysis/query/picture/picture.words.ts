import type { ReportQuery } from '../../../../domain/inventory/reports/report.job.ts';
import type { Metamodel } from '../../../../domain/kernel/metamodel/metamodel.compile.ts';
import { formatDate } from '../../../kernel/charts/charts.numbers.ts';
import { withNote } from '../../../kernel/charts/charts.parts.ts';
import type { ChartUnit, ChartWorkspace } from '../../../kernel/charts/charts.types.ts';
import { reportText } from '../../../kernel/report.texts.ts';
import type { QueryColumn, QueryPlan } from '../query.plan.ts';
import { dimensionTitle, measureTitle, type NamedMetamodel, valueTitle } from '../query.titles.ts';
import type { PictureCells, Value } from './picture.read.ts';
import { isId, type PictureShape } from './picture.shape.ts';

/** The data of a query's chart. */
export interface QueryPicture extends PictureCells {
  query: ReportQuery;
  plan: QueryPlan;
  shape: PictureShape;
  metamodel: Pick<Metamodel, 'cardTypes' | 'relationTypes'>;
  workspace: ChartWorkspace;
}

/** The column of a measure. */
const measureColumn = ({ plan }: QueryPicture, n: number): QueryColumn =>
  plan.columns[plan.dimensions.length + n]!;

/** The unit of a measure. */
export function unitOf({ query, ...picture }: QueryPicture, n: number): ChartUnit {
  const { unit } = measureColumn({ query, ...picture }, n);
  const { fn } = query.measures[n]!;
  return unit ?? (fn === 'count' || fn === 'distinct' ? 'count' : 'number');
}

/** The metamodel with the language of the picture. */
const named = ({ metamodel, workspace }: Pick<QueryPicture, 'metamodel' | 'workspace'>): NamedMetamodel => ({
  ...metamodel,
  language: workspace.language,
});

export const titleOfMeasure = (picture: QueryPicture, n: number): string =>
  measureTitle(named(picture), picture.query.measures[n]!, measureColumn(picture, n));

/** The dimensions without ids, unless there are no others. */
function readable({ plan }: Pick<QueryPicture, 'plan'>, dimensions: number[]): number[] {
  const named = dimensions.filter((n) => !isId(plan, n));
  return named.length > 0 ? named : dimensions;
}

/** The title of combined dimensions. */
export const titleOf = ({ query, plan, ...picture }: QueryPicture, dimensions: number[]): string =>
  readable({ plan }, dimensions)
    .map((n) => dimensionTitle(named(picture), query.dimensions[n]!, plan.columns[n]!))
    .join(' · ');

/** The label of the values of combined dimensions. */
export const nameOf = ({ plan, ...picture }: QueryPicture, dimensions: number[], names: Value[]): string =>
  readable({ plan }, dimensions)
    .map((n) => valueTitle(named(picture), plan.columns[n]!, names[n]))
    .join(' · ');

/** A number, which `min` and `max` of dates are not. */
export const numberOf = (value: Value | undefined): number | null =>
  typeof value === 'number' ? value : null;

/** The note below the title. */
export function noteOf(picture: QueryPicture, more: (string | undefined)[]): { note?: string } {
  const { query, shape, metamodel, workspace } = picture;
  const types = query.from.map((key) => metamodel.cardTypes.get(key)?.label ?? key);
  const parts = [
    types.length > 0 && types.length <= 4 ? types.join(', ') : undefined,
    query.filter.trim() === '' ? undefined : reportText(workspace, 'query.filtered'),
    query.as_of
      ? reportText(workspace, 'query.asOf', { date: formatDate(Date.parse(query.as_of), workspace) })
      : undefined,
    ...more,
    shape.undrawn.length > 0
      ? reportText(workspace, 'query.undrawn', {
          titles: shape.undrawn.map((n) => titleOfMeasure(picture, n)).join(', '),
        })
      : undefined,
  ];
  const note = parts.reduce<string | undefined>(withNote, undefined);
  return note === undefined ? {} : { note };
}

/** The title of a chart: measures by dimensions. */
export function headOf(picture: QueryPicture, measures: number[]): string {
  const drawn = measures.map((n) => titleOfMeasure(picture, n)).join(', ');
  const [dimension, series] = [picture.shape.axis, picture.shape.series]
    .filter(({ length }) => length > 0)
    .map((of) => titleOf(picture, of));
  if (dimension === undefined) return drawn;
  const values = { measures: drawn, dimension };
  return series === undefined
    ? reportText(picture.workspace, 'query.by', values)
    : reportText(picture.workspace, 'query.byTwo', { ...values, series });
}

/** The note about groups that are not drawn. */
export const firstOf = ({ workspace }: QueryPicture, drawn: number, all: number): string | undefined =>
  drawn < all ? reportText(workspace, 'query.first', { shown: drawn, total: all }) : undefined;
