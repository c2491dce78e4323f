import type { Static, TProperties, TSchema } from 'typebox';
import type { Ctx } from '../../domain/kernel/context.ts';
import type { Fragment, JsonText } from '../../domain/kernel/lists/lists.types.ts';
import type { AppPermission, TokenScope } from '../../domain/kernel/permissions/permissions.data.ts';
import { may, requirePermission } from '../../domain/kernel/permissions/policy.ts';
import type { Module } from '../../domain/kernel/settings/settings.read.ts';
import { object, Position, type StaticOf } from '../../domain/kernel/shapes.ts';
import type { Cache } from '../../platform/cache.ts';
import type { RowWriter } from '../../platform/copy-out.ts';
import type { Sql } from '../../platform/database.ts';
import type { ErrorCode } from '../../platform/errors.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import type { Reads } from './as-of/as-of.reads.ts';
import type { ChartContext } from './charts/charts.labels.ts';
import type { Chart } from './charts/charts.types.ts';
import type { Cell, Column } from './formats/formats.types.ts';
import type { ReportBody } from './report.body.ts';
import { typeOf } from './report.params.ts';
import { type RowRange, type RowSource, rangeMembers } from './report.rows.ts';

/**
 * The text of a JSON object, or its chunks. Chunks from `lines` are buffers that are never decoded. A result of very many
 * chunks is written into a {@link ReportBody}.
 */
export type ReportText = JsonText | (string | Buffer)[] | ReportBody;

/** The input of a report: one snapshot, current or as of a time. */
export interface ReportInput<P> {
  /** Reads one snapshot; with `as_of` as of that time. */
  sql: Sql;
  /**
   * Reads the items of a long array as lines, separated by commas.
   * @param query one column of texts made by `jsonLine`, or columns from which `writer` builds such lines.
   */
  lines(query: Fragment, writer?: RowWriter): Promise<Buffer>;
  /** Reads the rows of a paged report, those of the requested range; called once. */
  rows(source: RowSource): Promise<Buffer>;
  /** The requested range of rows; absent: all. */
  range: RowRange | undefined;
  ctx: Ctx;
  params: P;
  /** The report's cards as a condition over the alias `c` of `cards`: active, visible to the caller, and matching `filter`. */
  cards: Fragment;
  /**
   * Condition of all active cards visible to the caller, over the alias `c`: for related cards. With `scope`, of its type only
   * those in it.
   */
  visible: Fragment;
  /** Whether the request has a `filter` or `scope`. */
  filtered: boolean;
  /** The time of the data. */
  asOf: Date;
  /** Whether the request has `as_of`: caches by current topic versions must not be used. */
  isHistorical: boolean;
  /** Whether only a chart is rendered: the report may choose what is drawn, or omit rows that do not fit and report their number. */
  forPicture: boolean;
  /** Caches parts of the result by the topic versions of the snapshot. */
  cache: Cache;
}

/** A validated request for a report. */
export interface ReportRequest {
  report: Report;
  params: Record<string, unknown>;
  /** The parameters, the filter and the name of the scope's card, for slides. */
  said: Record<string, unknown>;
  /** Condition of the cards, from `reportCards`. */
  cards: Fragment;
  /** Condition of related cards: active, visible, and in the scope if they have its type. */
  visible: Fragment;
  filtered: boolean;
  /** A time in the past; absent: now. */
  asOf?: Date;
  /** Of a paged report: the rows; absent: all. */
  range?: RowRange;
  /** Set if only a chart is rendered, for which the report may omit rows of a very large result. */
  forPicture?: true;
}

/** One table of a report. */
export interface ReportTable {
  /** Name of the sheet and value of the parameter `table`. */
  name: string;
  columns: Column[];
  /** Can be iterated once. */
  rows: Iterable<readonly Cell[]>;
}

/** The input of a streamed report. */
export interface StreamInput<P>
  extends Pick<ReportInput<P>, 'ctx' | 'params' | 'cards' | 'visible' | 'isHistorical'> {
  /** Current or as of a time. */
  snapshot: Snapshot;
  /** The feed position that it includes. */
  position: string;
}

/** A table that is streamed from a statement. */
export interface StreamedTable extends Omit<ReportTable, 'rows'> {
  /** SQL of the columns in order. */
  cells: readonly string[];
  /** The SQL before SELECT (`with ...`) and after the SELECT list. */
  before: Fragment;
  from: string;
}

/** One report, declared once: its route, description, caching and formats follow from this. */
export interface Report<P = Record<string, unknown>, A = unknown> {
  /** Unique name and path below `/api/v1/reports/`, in which the prefix of a module is a folder. */
  name: string;
  /** Its module, which is the prefix of its name. */
  module?: Module;
  /** Id of the operation. */
  id: string;
  summary: string;
  description?: string;
  permission: AppPermission | 'login';
  /** The scope that an API token also needs, if the report is about the caller's own objects. */
  scope?: TokenScope;
  /** Permissions besides `permission` that every request needs. */
  needs?: AppPermission[];
  /** Further requirements of `check`, such as `costs.view for cost fields`. */
  permissionNote?: string;
  /** Error codes in addition to those of every report. */
  errors?: ErrorCode[];
  /** Query parameters in addition to those of every report. */
  params: TProperties;
  /** The response schema, see `reportSchema`. */
  result: TSchema;
  /** Card types that must be visible. */
  types?: string[];
  /** Parameters that name a card type, which must be visible. */
  typeParams?: (keyof P & string)[];
  /** Whether `as_of` is not supported, because it reads tables without history. */
  isCurrentOnly?: boolean;
  /**
   * The tables and columns that it reads, if these are few: with `as_of`, others cannot be read. Those that its filter reads
   * are added.
   */
  reads?: Reads | ((ctx: Ctx, params: P) => Reads);
  /** Whether, for these parameters, it only reads few cards and relations, by their ids and ends. */
  fewRows?(params: P): boolean;
  /**
   * Refuses further parameters that the metamodel or the caller's rights do not allow. Called before a cached result is used, too.
   * @throws EstateError
   */
  check?(ctx: Ctx, params: P): void;
  /**
   * The topics on which it depends besides `metamodel` and those of a filter; `cards` and `relations` stand for those of all
   * types. Absent: it is computed for each request, because it depends on data without a topic, such as logins.
   */
  topics?(params: P): string[];
  /** Whether it depends on the date. */
  isDaily?: boolean;
  /** Whether its picture is computed apart, because it chooses what these parameters do not name. */
  choosesForPicture?(params: P): boolean;
  /** Computes the result, to which `position` is added. */
  compute(input: ReportInput<P>): Promise<ReportText>;
  /** Whether its rows grow with the inventory, so that a JSON response has a range of them; see `pagedReportSchema`. */
  isPaged?: boolean;
  /** Whether a response of some rows omits groups, even if it has all rows: files and charts are not made from it. */
  omitsGroups?: boolean;
  /** The array from `lines`: `tables` gets it as an iterable that is parsed lazily, once. */
  long?: string;
  /** Streams the result, for parameters with which it can be too large for memory; it is not cached then. */
  stream?: {
    applies(params: P): boolean;
    /** Only one of the members is used, and iterated once. */
    open(input: StreamInput<P>): { json: AsyncIterable<string | Buffer>; tables: StreamedTable[] };
  };
  /** The tables of a result; the first is the default for CSV. */
  tables(result: A, params: P): ReportTable[];
  /** The chart of a result; absent if the report has none. */
  chart?(result: A, params: P, context: ChartContext): Chart;
}

/** The named response schema of a report, with its position in the change feed. */
export const reportSchema = <const T extends TProperties>($id: string, members: T) =>
  object({ ...members, position: Position }, { $id });

/** {@link reportSchema} of a paged report. */
export const pagedReportSchema = <const T extends TProperties>($id: string, members: T) =>
  reportSchema($id, { ...members, ...rangeMembers });

/** Whether a report depends on a topic, apart from its filter. */
export function dependsOn({ topics }: Report, topic: string, params: Record<string, unknown>): boolean {
  if (!topics) return false;
  return topic === 'metamodel' || topics(params).some((one) => topic === one || topic.startsWith(`${one}:`));
}

/** Permissions with which a result is shared only among callers who have the same ones. */
const sharedRights = ['costs.view', 'relations.view', 'risks.view', 'stakeholders.view'] as const;

/** What a result depends on besides topics, parameters and visible cards: the caller's rights, and the date. */
export const variantOf = ({ isDaily }: Report, { caller }: Ctx): string =>
  [
    ...sharedRights.map((right) => may(caller, right)),
    isDaily && new Date().toISOString().slice(0, 10),
  ].join();

/**
 * Refuses what the metamodel or the caller's rights do not allow.
 * @throws EstateError `forbidden`, 422 naming the parameter.
 */
export function checkReport(report: Report, ctx: Ctx, params: Record<string, unknown>): void {
  for (const permission of report.needs ?? []) requirePermission(ctx.caller, permission);
  for (const type of report.types ?? []) typeOf(ctx, 'type', type);
  for (const param of report.typeParams ?? []) {
    if (params[param] !== undefined) typeOf(ctx, param, String(params[param]));
  }
  report.check?.(ctx, params);
}

/** Declares a report; the types of its parameters and result are inferred from their schemas. */
export function defineReport<const P extends TProperties, S extends TSchema>(
  report: Omit<Report<StaticOf<P>, Static<S>>, 'params' | 'result'> & { params: P; result: S },
): Report {
  return report as unknown as Report;
}
