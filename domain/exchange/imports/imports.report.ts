import { Readable } from 'node:stream';
import type { Static, TSchema } from 'typebox';
import type { BlobStore } from '../../../platform/blobs.ts';
import { embed, fragment, query, type Sql, type Transaction } from '../../../platform/database.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { recordFile, type StoredContent, storeContent } from '../../kernel/files/files.store.ts';
import type { JobDefinition } from '../../kernel/jobs/jobs.define.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { outcomeOf } from '../../kernel/jobs/jobs.lease.ts';
import type { JobCounts, JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { rowsTable } from './imports.cards.stage.ts';
import { placeOfLine } from './imports.lines.ts';
import type { ImportKind } from './imports.row.ts';
import { RESUME_DAYS } from './imports.staged.clean.ts';

const DAY_MS = 86_400_000;
/** The file of a successful job is deleted at its end; this is for jobs that were abandoned. */
const UPLOAD_DAYS = 90 + RESUME_DAYS;

/**
 * Records an uploaded file, and starts the job that imports it.
 * @param options the payload of the job, without `file_id`.
 * @param facts further members of the event.
 */
export async function startFileJob<P extends TSchema>(
  ctx: Ctx,
  content: StoredContent,
  file: { name: string; mediaType: string },
  job: JobDefinition<P>,
  options: Omit<Static<P>, 'file_id'>,
  facts: object = {},
): Promise<StartedJob> {
  return await command(ctx, async (work) => {
    await recordFile(work.sql, content, {
      ...file,
      ownerId: ctx.caller.userId,
      withCosts: true,
      needs: [],
      expiresAt: new Date(Date.now() + UPLOAD_DAYS * DAY_MS),
    });
    const started = await enqueueJob<TSchema>(ctx, work, job, { ...options, file_id: content.id });
    const { size, sha256 } = content;
    const data = { ...options, ...facts, import_job_id: started.job_id, size, sha256 };
    work.emit({ event_type: 'import.started', data });
    return started;
  });
}

const PAGE = 5_000;

/** SQL of the rows that a report contains. */
const reported = {
  failed: "and o.outcome = 'failed'",
  warnings: "and (o.outcome = 'failed' or w.line is not null)",
  changes: "and (o.outcome = 'failed' or o.changes is not null)",
  all: '',
};
/** SQL: the warnings `w` of the outcome `o`, if its row was written. */
const warnings = `import_warnings w on w.job_id = o.job_id and w.line = o.line and o.outcome in ('created', 'updated')`;

/** Where the row of an outcome `o` stands: its line, or its row and sheet in a workbook with these sheets. */
function placeOf(sheets: string[] | undefined): Fragment {
  if (!sheets) return fragment`'line', o.line`;
  const { row, sheet } = placeOfLine('o.line');
  return fragment`'line', ${embed(row)}, 'sheet', (${sheets}::text[])[${embed(sheet)}]`;
}

/** Which rows of an import are reported. */
interface ReportOptions {
  jobId: string;
  kind: ImportKind;
  rows: keyof typeof reported;
  /** The sheets of a workbook, in their order. */
  sheets?: string[];
}

/**
 * The outcomes of the rows as NDJSON, in the order of the file: `line, external_id, outcome, errors`, `sheet` of a workbook, and
 * `warnings` and `changes` of rows that have some.
 */
export async function* reportLines(
  sql: Sql,
  { jobId, kind, rows: wanted, sheets }: ReportOptions,
): AsyncGenerator<string> {
  const externalId = embed(kind === 'relations' ? 'null' : 'r.external_id');
  const place = embed(placeOf(sheets));
  for (let line = 0; ; ) {
    const rows = await query(sql)
      .rows`select o.line, left(json_build_object(${place}, 'external_id', ${externalId},
          'outcome', o.outcome, 'errors', coalesce(o.errors, '[]'))::text, -1)
        || coalesce(', "warnings": ' || w.warnings::text, '') || coalesce(', "changes": ' || o.changes::text, '') || '}' as text
       from import_outcomes o join ${embed(rowsTable[kind])} r on r.job_id = o.job_id and r.line = o.line
       left join ${embed(warnings)}
       where o.job_id = ${jobId} and o.line > ${line} ${embed(reported[wanted])}
       order by o.line limit ${embed(PAGE)}`;
    if (rows.length === 0) return;
    yield rows.map((row: { text: string }) => `${row.text}\n`).join('');
    line = rows.at(-1).line;
  }
}

/** What an import ends with. */
interface ImportEnd {
  /** The format in the name of the report. */
  name: string;
  report: AsyncIterable<string> | Iterable<string>;
  counts: JobCounts;
  /** Why the import has failed as a whole. */
  error?: JobResult['error'];
  /** Further members of the job's result; a function is called when the report is stored. */
  facts: Record<string, unknown> | (() => Promise<Record<string, unknown>>);
  /** The permissions that determined the report; none if it contains no values of the inventory. */
  needs?: readonly AppPermission[];
  /** Whether the report may contain costs. */
  withCosts?: boolean;
}

/** Stores the report of an import as the job's result, in the transaction that ends the job. */
export async function endImport(
  sql: Transaction,
  job: RunningJob<{ file_id: string; mode: string; dry_run: boolean }>,
  blobs: BlobStore,
  { name, report, counts, error, facts, needs = [], withCosts = false }: ImportEnd,
): Promise<JobResult> {
  const { payload, ctx } = job;
  const content = await storeContent(blobs, Readable.from(report));
  const endedAt = new Date();
  const file = await recordFile(sql, content, {
    name: `${name}-report-${endedAt.toISOString().slice(0, 19).replaceAll(':', '-')}.ndjson`,
    mediaType: 'application/x-ndjson',
    ownerId: ctx.caller.userId,
    withCosts,
    needs,
    // Deleted with its job.
    expiresAt: null,
  });
  const isFailed = outcomeOf({ counts, error }).status === 'failed';
  // A failed import can be retried.
  if (!isFailed) await sql('files').where({ id: payload.file_id }).update({ expires_at: endedAt });
  const { created, updated, unchanged, failed } = counts;
  const summary = `${created} created, ${updated} updated, ${unchanged} unchanged, ${failed} failed`;
  const result: JobResult = {
    fileId: file.id,
    message: error?.message ?? (payload.dry_run ? `Dry run: ${summary}` : summary),
    counts,
    ...(error ? { error } : {}),
    result: {
      ...(typeof facts === 'function' ? await facts() : facts),
      mode: payload.mode,
      dry_run: payload.dry_run,
      written: !payload.dry_run && !isFailed,
      report: { name: file.name, size: file.size, sha256: file.sha256 },
    },
  };
  await job.finish({ sql }, result);
  return result;
}

/** Number of rows by outcome, without those that an atomic import has skipped. */
export async function countOutcomes(sql: Sql, jobId: string): Promise<JobCounts> {
  const counts: JobCounts = { total: 0, created: 0, updated: 0, unchanged: 0, failed: 0 };
  const rows = await query(sql).rows`select outcome, count(*)::int as n from import_outcomes
    where job_id = ${jobId} group by outcome`;
  for (const { outcome, n } of rows) {
    counts.total! += n;
    if (outcome !== 'skipped') counts[outcome] = n;
  }
  return counts;
}

/** Whether changes of the rows contain costs. */
export async function showsCostChanges(
  sql: Sql,
  { id, ctx }: Pick<RunningJob, 'id' | 'ctx'>,
  kind: ImportKind,
): Promise<boolean> {
  if (kind === 'costs') return true;
  const { cardTypes, relationTypes } = ctx.metamodel;
  const types = kind === 'cards' ? cardTypes : relationTypes;
  const keys = [...types.values()].flatMap(({ costKeys }) => costKeys.map((key) => `attributes.${key}`));
  return await query(sql).value<boolean>`select exists (select from import_outcomes
    where job_id = ${id} and jsonb_exists_any(changes, ${keys}::text[]))`;
}

/** The number of written rows with warnings, and whether some name cards of the inventory. */
export async function countWarned(sql: Sql, jobId: string): Promise<{ rows: number; ofCards: boolean }> {
  return (await query(sql).row`select count(w.line)::int as rows,
      coalesce(bool_or(jsonb_path_exists(w.warnings, '$[*].confidence')), false) as "ofCards"
    from import_outcomes o join ${embed(warnings)} where o.job_id = ${jobId}`)!;
}

/** The first warnings of written rows, without names of cards. @param sheets of a workbook. */
export async function firstWarned(
  sql: Sql,
  jobId: string,
  count: number,
  sheets?: string[],
): Promise<unknown[]> {
  const place = embed(placeOf(sheets));
  const rows = await query(sql).rows`select json_strip_nulls(json_build_object(${place}, 'code', v.code,
      'card_id', v.card_id, 'other_line', v.other_line, 'confidence', v.confidence, 'value', v.value, 'nearest', v.nearest)) as item
    from import_outcomes o join ${embed(warnings)}, jsonb_to_recordset(w.warnings)
      as v (code text, card_id uuid, other_line integer, confidence double precision, value text, nearest text)
    where o.job_id = ${jobId} order by o.line, v.confidence desc limit ${count}`;
  return rows.map(({ item }) => item);
}
