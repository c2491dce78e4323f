import type { ReportQuery } from '../../../../domain/inventory/reports/report.job.ts';
import type { PictureFormat, PictureOptions } from '../../../../domain/inventory/reports/report.options.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import { snapshotPosition } from '../../../../domain/kernel/events/changes.ts';
import { labelledMetamodel } from '../../../../domain/kernel/metamodel/metamodel.labels.ts';
import type { Services } from '../../../../domain/kernel/services.ts';
import { loadSettings } from '../../../../domain/kernel/settings/settings.read.ts';
import { formatDate, formatValue } from '../../../kernel/charts/charts.numbers.ts';
import { spanAfter } from '../../../kernel/charts/charts.time.ts';
import type {
  BarsChart,
  Chart,
  ChartUnit,
  ChartWorkspace,
  FiguresChart,
  LinesChart,
  Paint,
  SingleChart,
} from '../../../kernel/charts/charts.types.ts';
import { render } from '../../../kernel/rendering/rendering.queue.ts';
import { chartWorkspaceOf, dayOf, paramsLine } from '../../../kernel/report.rendering.ts';
import { reportText } from '../../../kernel/report.texts.ts';
import type { QueryPlan } from '../query.plan.ts';
import { queryTimeOf, TIME_LIMITS, withQuerySnapshot } from '../query.run.ts';
import { valueOrder, valuePaint } from '../query.titles.ts';
import { readPictureCells, type Value } from './picture.read.ts';
import { isAdditive, isId, type PictureShape, shapeOf } from './picture.shape.ts';
import {
  firstOf,
  headOf,
  nameOf,
  noteOf,
  numberOf,
  type QueryPicture,
  titleOf,
  titleOfMeasure,
  unitOf,
} from './picture.words.ts';

/** A query's result as a chart. */
export interface DrawnQuery {
  picture: Buffer;
  /** The feed position of the data. */
  position: string;
  /** Total number of groups. */
  groups: number;
}

export interface DrawOptions {
  signal?: AbortSignal | undefined;
  format: PictureFormat;
  options: PictureOptions;
  /** The most rows; absent: as many as a chart shows. */
  limit?: number;
  /** Whether a job draws it, with a longer time limit. */
  forJob: boolean;
}

/** In milliseconds. */
const JOB_RENDER_MS = 15 * 60_000;

/**
 * Draws the result of a query, from one snapshot.
 * @throws EstateError `query_too_heavy`, `as_of_expired`, `unavailable` if too many charts are being rendered.
 */
export async function drawQuery(
  services: Services,
  ctx: Ctx,
  query: ReportQuery,
  plan: QueryPlan,
  { signal, forJob, format, options, limit: most }: DrawOptions,
): Promise<DrawnQuery> {
  const shape = shapeOf(query, plan, most);
  const limit = forJob ? TIME_LIMITS.job : TIME_LIMITS.inRequest;
  const { read, position } = await withQuerySnapshot(
    services.db,
    queryTimeOf(ctx, query),
    limit,
    async (snapshot) => ({
      position: await snapshotPosition(snapshot),
      read: await readPictureCells(snapshot, query, plan, shape, !forJob),
    }),
  );
  const { values } = await loadSettings(services.db);
  const workspace = chartWorkspaceOf(values, options);
  const metamodel = labelledMetamodel(ctx.metamodel, options.language);
  const chart = queryChart({ ...read, query, plan, shape, metamodel, workspace });
  const asOf = query.as_of === undefined ? undefined : new Date(query.as_of);
  const notes = { line: paramsLine({ filter: query.filter }, options), day: dayOf(asOf) };
  const drawn = await render(
    { chart, workspace, format, options, notes },
    { user: ctx.caller.userId, ...(signal ? { signal } : {}), ...(forJob ? { limitMs: JOB_RENDER_MS } : {}) },
  );
  return { picture: drawn, position, groups: read.groups };
}

/** The chart of a query's result. */
export function queryChart(picture: QueryPicture): Chart {
  const { shape } = picture;
  if (shape.kind === 'figures') return figuresOf(picture);
  // only measures of one unit share a chart
  const panels = [...Map.groupBy(shape.measures, (n) => unitOf(picture, n))].map(([unit, measures]) =>
    shape.kind === 'bars' ? barsOf(picture, unit, measures) : linesOf(picture, unit, measures),
  );
  const [only, ...others] = panels as [SingleChart, ...SingleChart[]];
  return others.length === 0 ? only : { kind: 'panels', title: headOf(picture, shape.measures), panels };
}

/** The measures as numbers: of all cards, or of the first groups if bars cannot show them. */
function figuresOf(picture: QueryPicture): FiguresChart {
  const { cells, shape, groups, workspace } = picture;
  const drawnGroups = cells.filter(({ row }) => row !== null);
  return {
    kind: 'figures',
    title: headOf(picture, shape.measures),
    ...noteOf(picture, [firstOf(picture, drawnGroups.length, groups)]),
    items: drawnGroups.flatMap(({ names, values }) =>
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

/** Formats a date or timestamp; other text is returned unchanged. */
function dateOf(value: string, workspace: ChartWorkspace): string {
  const time = Date.parse(value);
  return Number.isNaN(time) ? value : formatDate(time, workspace);
}

/** Rows of bars: measures next to each other, additive groups stacked. */
function barsOf(picture: QueryPicture, unit: ChartUnit, measures: number[]): BarsChart {
  const { query, shape } = picture;
  const parted = shape.series.length > 0;
  const additive = measures.map((n) => isAdditive(query.measures[n]!));
  const series = parted ? seriesOfGroups(picture) : seriesOfMeasures(picture, measures);
  const names = new Map(
    picture.cells.flatMap(({ row, names }) => (row === null ? [] : [[row, names] as const])),
  );
  const drawnGroups = [...names.keys()].sort((a, b) => a - b);
  const others = picture.rows - drawnGroups.length;
  const together = others > 0 && additive.includes(true) && !shape.isLimited;
  const valuesOf = (row: number | null) => series.names.map((_, at) => series.rows.get(row)?.[at] ?? null);
  const rest = valuesOf(null).map((value, at) => (additive[parted ? 0 : at] ? value : null));
  return {
    kind: 'bars',
    title: headOf(picture, measures),
    ...noteOf(picture, [
      together
        ? combinedNote(picture, drawnGroups.length)
        : firstOf(picture, drawnGroups.length, picture.rows),
      series.note,
    ]),
    itemAxis: titleOf(picture, shape.axis),
    valueAxis: (parted ? measures.slice(0, 1) : measures).map((n) => titleOfMeasure(picture, n)).join(', '),
    unit,
    series: series.names,
    ...(series.paints ? { paints: series.paints } : {}),
    beside: parted ? !additive[0] : true,
    rest: series.rest,
    items: [
      ...drawnGroups.map((row) => ({
        name: nameOf(picture, shape.axis, names.get(row)!),
        values: valuesOf(row),
        ...idOfRow(picture, names.get(row)!),
        ...paintOfRow(picture, names.get(row)!, parted),
      })),
      ...(together ? [{ name: othersOf(picture, others), values: rest }] : []),
    ],
  };
}

/** The card of a row of a list. */
function idOfRow({ shape, plan }: QueryPicture, names: Value[]): { id?: string } {
  const id = names[shape.axis.find((n) => isId(plan, n)) ?? -1];
  return typeof id === 'string' ? { id } : {};
}

/** The paint of a row of one value, if it has one; the parts of stacks have their own. */
function paintOfRow(
  { shape, metamodel, plan }: QueryPicture,
  names: Value[],
  parted: boolean,
): { paint?: Paint } {
  const [axis, ...more] = shape.axis;
  if (parted || axis === undefined || more.length > 0) return {};
  const paint = valuePaint(metamodel, plan.columns[axis]!, names[axis]);
  return paint === undefined ? {} : { paint };
}

const combinedNote = ({ shape, rows, workspace }: QueryPicture, drawn: number): string =>
  reportText(workspace, 'query.combined', { order: shape.order, shown: drawn, total: rows });

const DAY_MS = 86_400_000;

/** Lines over time. Without a group, a count is zero and an average is null. */
function linesOf(picture: QueryPicture, unit: ChartUnit, measures: number[]): LinesChart {
  const { query, shape, cells, workspace } = picture;
  const { step } = shape;
  const [axis] = shape.axis;
  const series = shape.series.length > 0 ? seriesOfGroups(picture) : seriesOfMeasures(picture, measures);
  const rowsByTime = new Map<number, number>();
  let undated: number | null = null;
  let drawn = 0;
  for (const { row, names, values } of cells) {
    if (row === null) continue;
    const time = parseTime(names[axis!]);
    if (Number.isNaN(time)) undated = (undated ?? 0) + (numberOf(values[0]) ?? 0);
    else rowsByTime.set(time, row);
  }
  drawn = rowsByTime.size;
  const times = withGapEnds(
    [...rowsByTime.keys()].sort((a, b) => a - b),
    step,
  );
  const nothing = measures.map((n) => {
    const { fn } = query.measures[n]!;
    // groups may be missing because of `having`
    return query.having.length === 0 && (isAdditive(query.measures[n]!) || fn === 'distinct') ? 0 : null;
  });
  const [first] = measures;
  const known = undated !== null && first === shape.measures[0] && isAdditive(query.measures[first!]!);
  const all = picture.rows - (undated === null ? 0 : 1);
  return {
    kind: 'lines',
    title: headOf(picture, measures),
    ...noteOf(picture, [
      drawn < all ? reportText(workspace, 'query.points', { shown: drawn, total: all }) : undefined,
      undated === null
        ? undefined
        : known
          ? reportText(workspace, 'query.undatedSum', { value: formatValue(undated, unit, workspace) })
          : reportText(workspace, 'query.undated'),
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
      ...(series.paints ? { paint: series.paints[at]! } : {}),
      values: times.map((time) => {
        const row = rowsByTime.get(time);
        const value = row === undefined ? undefined : series.rows.get(row)?.[at];
        return value === undefined ? nothing[shape.series.length > 0 ? 0 : at]! : value;
      }),
    })),
  };
}

/** Parses `2026`, `2026-Q3`, `2026-07`, a date or a timestamp, to milliseconds since 1970; NaN for other text. */
function parseTime(value: unknown): number {
  if (typeof value !== 'string') return Number.NaN;
  const quarter = /^(\d{4})-Q([1-4])$/.exec(value);
  if (!quarter) return Date.parse(value);
  return Date.parse(`${quarter[1]}-${String(Number(quarter[2]) * 3 - 2).padStart(2, '0')}-01`);
}

/** Adds the first and the last span of each gap between groups, so that gaps are drawn correctly. */
function withGapEnds(times: number[], step: PictureShape['step']): number[] {
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

/** The series of a chart, with their values by row. */
interface PictureSeries {
  names: string[];
  /** What the series stand for; absent if any is not known. */
  paints?: Paint[];
  /** Whether the last series combines others. */
  rest: boolean;
  /** The note about omitted series. */
  note: string | undefined;
  /** By row number, null for the others; rows without a group are absent. */
  rows: Map<number | null, (number | null | undefined)[]>;
}

/** One series per measure. */
function seriesOfMeasures(picture: QueryPicture, measures: number[]): PictureSeries {
  const { cells, shape } = picture;
  const places = measures.map((n) => shape.measures.indexOf(n));
  const rows = new Map(cells.map(({ row, values }) => [row, places.map((at) => numberOf(values[at]))]));
  return { names: measures.map((n) => titleOfMeasure(picture, n)), rest: false, note: undefined, rows };
}

/** One series per group of the series dimensions, in the order of the metamodel; the others combined if additive. */
function seriesOfGroups(picture: QueryPicture): PictureSeries {
  const { cells, shape, metamodel, plan, query } = picture;
  const names = new Map(
    cells.flatMap(({ series, names }) => (series === null ? [] : [[series, names] as const])),
  );
  const place = (series: number) =>
    shape.series.map((n) => valueOrder(metamodel, plan.columns[n]!, names.get(series)![n]));
  const drawnGroups = [...names.keys()].sort((a, b) => {
    const [of, other] = [place(a), place(b)];
    const differs = of.findIndex((value, at) => value !== other[at]);
    return differs < 0 ? a - b : of[differs]! - other[differs]!;
  });
  const others = picture.series - drawnGroups.length;
  const rest = others > 0 && isAdditive(query.measures[shape.measures[0]!]!);
  const shown: (number | null)[] = rest ? [...drawnGroups, null] : drawnGroups;
  const rows: PictureSeries['rows'] = new Map();
  for (const { row, series, values } of cells) {
    const at = shown.indexOf(series);
    if (at < 0) continue;
    const known = rows.get(row) ?? shown.map(() => undefined);
    known[at] = numberOf(values[0]);
    rows.set(row, known);
  }
  const [only, ...more] = shape.series;
  const paints = shown.map((series): Paint | undefined =>
    series === null
      ? 'others'
      : more.length === 0
        ? valuePaint(metamodel, plan.columns[only!]!, names.get(series)![only!])
        : undefined,
  );
  return {
    ...(paints.every((paint) => paint !== undefined) ? { paints } : {}),
    names: [
      ...drawnGroups.map((series) => nameOf(picture, shape.series, names.get(series)!)),
      ...(rest ? [othersOf(picture, others)] : []),
    ],
    rest,
    note:
      rest || others === 0
        ? undefined
        : reportText(picture.workspace, 'query.seriesNote', {
            title: titleOf(picture, shape.series),
            note: firstOf(picture, drawnGroups.length, picture.series) ?? '',
          }),
    rows,
  };
}

/** The label of combined groups. */
const othersOf = ({ workspace }: QueryPicture, count: number): string =>
  reportText(workspace, 'query.others', { count });
