import { type Fragment, raw, sql } from '../../../../domain/inventory/filters/filters.sql.ts';
import type { ReportQuery } from '../../../../domain/inventory/reports/report.job.ts';
import type { Snapshot } from '../../../../platform/snapshot.ts';
import { compileQuery } from '../query.compile.ts';
import type { QueryPlan } from '../query.plan.ts';
import { guardStatement } from '../query.run.ts';
import { isAdditive, type PictureShape } from './picture.shape.ts';

export type Value = string | number | boolean | null;

/** One cell of a chart: a row and a series; for combined groups their sums. */
interface PictureCell {
  /** From 1; null: the others. */
  row: number | null;
  series: number | null;
  /** Values of the dimensions by index; null for combined groups too. */
  names: Value[];
  /** In the order of the shape's measures. */
  values: Value[];
}

/** The groups of a query that a chart shows. */
export interface PictureCells {
  cells: PictureCell[];
  /** Total numbers of rows, series and groups. */
  rows: number;
  series: number;
  groups: number;
}

/**
 * Reads the cells of a chart for any number of groups: the database ranks rows and series, and combines those beyond the
 * limits.
 * @param guarded whether a heavy query is refused before it starts.
 * @throws EstateError `query_too_heavy`.
 */
export async function readPictureCells(
  snapshot: Snapshot,
  query: ReportQuery,
  plan: QueryPlan,
  shape: PictureShape,
  guarded: boolean,
): Promise<PictureCells> {
  const statement = cellsStatement(query, plan, shape);
  if (guarded) await guardStatement(snapshot, statement);
  const [answer] = await snapshot.query<{ cells: string; rows: number; series: number; groups: number }>(
    statement.sql,
    statement.bindings,
  );
  const { cells, ...counts } = answer!;
  const items = JSON.parse(cells) as [number | null, number | null, Value[], Value[]][];
  return { cells: items.map(([row, series, names, values]) => ({ row, series, names, values })), ...counts };
}

function cellsStatement(query: ReportQuery, plan: QueryPlan, shape: PictureShape): Fragment {
  const { groups, outputs, order } = compileQuery(plan);
  const { axis, series, measures } = shape;
  const columns = (of: number[]) => of.map((n) => plan.dimensions[n]!.column);
  const by = (of: number[]) => (of.length > 0 ? `over (partition by ${columns(of).join(', ')})` : 'over ()');
  const measured = (n: number) => plan.columns[plan.dimensions.length + n]!.type;
  const [first] = measures;
  // averages are ranked by their maximum, since they cannot be added
  const weight = (of: number[]) => {
    if (shape.kind === 'figures') return '0';
    return `${isAdditive(query.measures[first!]!) ? 'sum' : 'max'}(q${first}) ${by(of)}`;
  };
  const isDrawn = {
    row: shape.isLimited
      ? `row_place <= ${shape.most.rows}`
      : `row_place <= case when row_count > ${shape.most.rows} then ${shape.most.rows - 1} else row_count end`,
    series: `series_place <= case when series_count > ${shape.most.series} then ${shape.most.series - 1} else series_count end`,
  };
  const names = plan.dimensions.map(
    (_, n) => `case when ${isDrawn[series.includes(n) ? 'series' : 'row']} then ${outputs[n]} end`,
  );
  const values = measures.map((n) => {
    const output = outputs[plan.dimensions.length + n];
    return measured(n) === 'number' ? `sum(${output})` : `max(${output})`;
  });
  const keys = [
    `case when ${isDrawn.row} then row_place end`,
    `case when ${isDrawn.series} then series_place end`,
    ...names,
  ];
  const cells = [
    ...keys.map((key, n) => `${key} as c${n}`),
    ...values.map((value, n) => `${value} as v${n}`),
  ];
  const list = (letter: string, from: number, count: number) =>
    `json_build_array(${Array.from({ length: count }, (_, n) => `${letter}${from + n}`).join(', ')})`;
  return sql`${groups}, ${raw(`
    o as (select h.*, row_number() over (${order.sql}) as n from h),
    t as (select o.*, ${weight(axis)} as row_weight, min(n) ${by(axis)} as row_n,
      ${weight(series)} as series_weight, min(n) ${by(series)} as series_n from o),
    u as (select t.*, dense_rank() over (order by ${rowOrder(plan, shape)}) as row_place,
      dense_rank() over (order by series_weight desc nulls last, series_n) as series_place from t),
    m as (select coalesce(max(row_place), 0) as row_count, coalesce(max(series_place), 0) as series_count,
      count(*) as groups from u),
    w as (select ${cells.join(', ')} from u cross join m group by ${keys.map((_, n) => n + 1).join(', ')})
    select (select coalesce(json_agg(json_build_array(c0, c1, ${list('c', 2, names.length)}, ${list('v', 0, values.length)})
        order by c0 nulls last, c1 nulls last), '[]') from w)::text as cells,
      row_count::int as rows, series_count::int as series, groups::int as groups from m`)}`;
}

function rowOrder(plan: QueryPlan, { order, axis }: PictureShape): string {
  if (order === 'asked') return 'row_n';
  if (order === 'greatest') return 'row_weight desc nulls last, row_n';
  const { column, type } = plan.dimensions[axis[0]!]!;
  // groups without a date are included for the note
  return `${column} is not null, ${column}${type === 'datetime' ? '' : ' collate "C"'} desc`;
}
