import type { QueryMeasure, ReportQuery } from '../../../../domain/inventory/reports/report.job.ts';
import type { TimeStep } from '../../../kernel/charts/charts.types.ts';
import type { QueryPlan } from '../query.plan.ts';

/** Maximum rows, points in time and series of a chart, and total bars of grouped bars. */
const MAX = { rows: 200, times: 500, series: 10, bars: 400, figures: 40 };

/** How the groups of a query are drawn: dimensions and measures by index. */
export interface PictureShape {
  kind: 'figures' | 'bars' | 'lines';
  /** Dimensions of the rows, or the time dimension. */
  axis: number[];
  /** Dimensions of the series; empty: one series per measure. */
  series: number[];
  measures: number[];
  /** Measures that are not drawn, because they are not numeric or exceed the limit. */
  undrawn: number[];
  /** The order of the rows. */
  order: 'asked' | 'greatest' | 'latest';
  most: { rows: number; series: number };
  /** Whether the query ends after `most.rows`, so that the other rows are not combined. */
  isLimited: boolean;
  /** Time span of the points of lines. */
  step?: TimeStep | 'day';
}

/** Whether the values of several groups can be added. */
export const isAdditive = ({ fn }: QueryMeasure): boolean => fn === 'count' || fn === 'sum';

/** Whether a dimension tells cards of one name apart, and is not shown itself. */
export const isId = ({ columns }: QueryPlan, n: number): boolean => {
  const target = columns[n]!.shows?.target;
  return target?.kind === 'column' && target.column === 'id';
};

const isTime = (type: string): boolean => type === 'date' || type === 'datetime';

/**
 * Chooses the chart for a query: figures without a dimension, bars for one dimension, lines over time, and for several
 * dimensions bars of the last one within rows of the others. Lists of cards, which have their id as a dimension, are bars.
 * @param limit the most rows; lines have all.
 */
export function shapeOf(query: ReportQuery, plan: QueryPlan, limit = Number.MAX_SAFE_INTEGER): PictureShape {
  const shape = unlimitedShape(query, plan);
  const isLimited = shape.kind !== 'lines' && limit <= shape.most.rows;
  return isLimited ? { ...shape, isLimited, most: { ...shape.most, rows: limit } } : shape;
}

function unlimitedShape(query: ReportQuery, plan: QueryPlan): PictureShape {
  const dimensions = query.dimensions.map((_, n) => n);
  const all = query.measures.map((_, n) => n);
  const numbers = all.filter((n) => plan.columns[dimensions.length + n]!.type === 'number');
  const asked = query.sort.length > 0;
  if (dimensions.length === 0 || numbers.length === 0) {
    const most = { rows: Math.max(1, Math.floor(MAX.figures / all.length)), series: 1 };
    return {
      kind: 'figures',
      axis: dimensions,
      series: [],
      measures: all,
      undrawn: [],
      order: 'asked',
      most,
      isLimited: false,
    };
  }
  const isList = dimensions.some((n) => isId(plan, n));
  const time = isList
    ? undefined
    : dimensions.find((n) => query.dimensions[n]!.bucket || isTime(plan.dimensions[n]!.type));
  const others = dimensions.filter((n) => n !== time);
  const axis = time === undefined ? (others.length > 1 && !isList ? others.slice(0, -1) : others) : [time];
  const series = dimensions.filter((n) => !axis.includes(n));
  const measures = numbers.slice(0, series.length > 0 ? 1 : MAX.series);
  const undrawn = all.filter((n) => !measures.includes(n));
  const common = { axis, series, measures, undrawn, isLimited: false };
  if (time !== undefined) {
    const { bucket } = query.dimensions[time]!;
    const step = bucket ?? (plan.dimensions[time]!.type === 'date' ? ('day' as const) : undefined);
    const most = { rows: MAX.times, series: MAX.series };
    return { kind: 'lines', ...common, order: 'latest', most, ...(step ? { step } : {}) };
  }
  const beside =
    series.length === 0 ? measures.length : isAdditive(query.measures[measures[0]!]!) ? 1 : MAX.series;
  const rows = Math.min(MAX.rows, Math.floor(MAX.bars / beside));
  return { kind: 'bars', ...common, order: asked ? 'asked' : 'greatest', most: { rows, series: MAX.series } };
}
