import type { Static, TProperties, TSchema } from 'typebox';
import type { Ctx } from '../../domain/kernel/context.ts';
import type { Fragment, JsonText } from '../../domain/kernel/lists/lists.types.ts';
import type { AppPermission, TokenScope } from '../../domain/kernel/permissions/permissions.data.ts';
import type { Module } from '../../domain/kernel/settings/modules.ts';
import type { StaticOf } from '../../domain/kernel/shapes.ts';
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

/**
 * The text of a JSON object; a long one in pieces, of which the first begins and the last ends it. Pieces from `lines`
 * spare the text the way through JavaScript. One of very many pieces is written where it is sent from.
 */
export type ReportText = JsonText | (string | Buffer)[] | ReportBody;

/** What a report computes from: one snapshot, of now or as of a date. */
export interface ReportInput<P> {
  /** Reads one snapshot; with `as_of` as of that time. */
  sql: Sql;
  /**
   * The items of a long array, each on a line of its own, with commas between them.
   * @param query one column of texts made by `jsonLine`, or of what `writer` makes such lines of.
   */
  lines(query: Fragment, writer?: RowWriter): Promise<Buffer>;
  ctx: Ctx;
  params: P;
  /** The report's cards as a condition over the alias `c` of `cards`: active, visible to the caller, let through by `filter`. */
  cards: Fragment;
  /** All active cards visible to the caller, over the alias `c`: for what is related to the report's cards. */
  visible: Fragment;
  /** Whether the request narrows the cards by `filter`. */
  filtered: boolean;
  /** The time that the report shows. */
  asOf: Date;
  /** The request has `as_of`: caches under present versions do not apply. */
  isHistorical: boolean;
  /** Only a picture is made of the answer, which may leave out what that has no room for; it tells how much. */
  forPicture: boolean;
  /** For parts of the answer, kept under the topic versions that the same snapshot saw. */
  cache: Cache;
}

/** One table of a report's answer. */
export interface ReportTable {
  /** Name of the sheet, and what `table=` names. */
  name: string;
  columns: Column[];
  /** Gone through once. */
  rows: Iterable<readonly Cell[]>;
}

/** What a report that is read piece by piece works with. */
export interface StreamInput<P>
  extends Pick<ReportInput<P>, 'ctx' | 'params' | 'cards' | 'visible' | 'isHistorical'> {
  /** Of now or as of a date. */
  snapshot: Snapshot;
  /** The feed position that it includes. */
  position: string;
}

/** A table that is read from a statement. */
export interface StreamedTable extends Omit<ReportTable, 'rows'> {
  /** SQL of the columns in order. */
  cells: readonly string[];
  /** What stands before SELECT, and what after the cells. */
  before: Fragment;
  from: string;
}

/** An answer that is read piece by piece: one of these is used, and gone through once. */
export interface StreamedReport {
  json: AsyncIterable<string | Buffer>;
  tables: StreamedTable[];
}

/** One report, declared once: its route, description, caching and formats follow from this. */
export interface Report<P = Record<string, unknown>, A = unknown> {
  /** The last part of its path, `/api/v1/reports/<name>`, unless that is told apart. */
  name: string;
  /** What stands behind `/api/v1/reports/` where it is not the name. */
  path?: string;
  /** The module that it belongs to. */
  module?: Module;
  /** Name of the operation. */
  id: string;
  summary: string;
  description?: string;
  permission: AppPermission | 'login';
  /** The scope that an API token needs besides, where the answer is about the caller's own things. */
  scope?: TokenScope;
  /** What `check` demands besides, such as `costs.view for cost fields`. */
  permissionNote?: string;
  /** Codes of errors that it answers besides those of every report. */
  errors?: ErrorCode[];
  /** Members of the query besides those that every report takes. */
  params: TProperties;
  /** The named schema of its answer, see `reportAnswer`. */
  answer: TSchema;
  /** Whether `as_of` is taken; not by reports on what has no history. */
  timeTravel: boolean;
  /**
   * What it reads of the inventory, where that is little: as of a date nothing else can be read. What its filter
   * reads is added.
   */
  reads?: Reads;
  /** Parameters under which it reads few rows, of cards and relations alone and by their ids and ends. */
  fewRows?(params: P): boolean;
  /** Its numbers follow from what no topic tells, such as logins: it is computed for each request. */
  uncached?: true;
  /**
   * Refuses parameters that the metamodel or the caller's rights do not allow, also before a kept answer is given.
   * @throws EstateError
   */
  check?(ctx: Ctx, params: P): void;
  /** Which topics its numbers depend on; those of a filter are added. */
  dependsOn(topic: string, params: P): boolean;
  /** What besides topics, parameters and visible cards tells answers apart: rights of the caller, the date. */
  variant(ctx: Ctx): string;
  /** The answer, to which `position` is added. */
  compute(input: ReportInput<P>): Promise<ReportText>;
  /** The array made of `lines`: `tables` gets it as a sequence that is read line by line, once. */
  long?: string;
  /** For parameters under which the answer may be too large to be held: it is streamed then, and not kept. */
  stream?: {
    applies(params: P): boolean;
    open(input: StreamInput<P>): StreamedReport;
  };
  /** The tables of an answer; the first is the one that CSV holds. */
  tables(answer: A, params: P): ReportTable[];
  /** What a picture of the answer shows; absent: the report has no picture. */
  chart?(answer: A, params: P, context: ChartContext): Chart;
}

/** Declares a report; the types of its parameters and answer follow from their schemas. */
export function defineReport<const P extends TProperties, S extends TSchema>(
  report: Omit<Report<StaticOf<P>, Static<S>>, 'params' | 'answer'> & { params: P; answer: S },
): Report {
  return report as unknown as Report;
}
