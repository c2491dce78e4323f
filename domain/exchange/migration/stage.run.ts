import path from 'node:path';
import type { Knex } from 'knex';
import type { BlobStore } from '../../../platform/blobs.ts';
import { type Db, embed, inTransaction, query } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import { openContent } from '../../kernel/files/files.store.ts';
import { JobFailed, type JobResult, type RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { findRows, updateRow } from '../../kernel/resources/rows.ts';
import type { Services } from '../../kernel/services.ts';
import { restore } from '../../kernel/transfer/csv-cells.ts';
import { attemptBatch } from '../imports/imports.apply-batches.ts';
import { removeStaged, storeOutcomes } from '../imports/imports.cards.stage.ts';
import { csvRecords } from '../imports/imports.csv-records.ts';
import { planImport } from '../imports/imports.plan.ts';
import { findTextError, utf8Chunks } from '../imports/imports.utf8.ts';
import { createCardWriter, readCardRecords } from './import.cards.ts';
import { endedEvent } from './migration.events.ts';
import { Migration, type MigrationPayload, type MigrationRow } from './migration.list.ts';
import { blocksOf, createSheet, type Sheet } from './source.blocks.ts';
import {
  MAX_CELL,
  MAX_COLUMNS,
  MAX_ROWS,
  type SheetRows,
  type SourceFacts,
  type SourceRow,
} from './source.types.ts';
import { relatedCard, stageCards, stageRelations } from './stage.cards.ts';
import { findParents, nameParents, placeChildren } from './stage.lookup.ts';
import { previewCardRecords, previewOtherRecords } from './stage.preview.ts';
import { countRecords, modelDiff, stageModel, stageOmittedValues } from './stage.report.ts';
import { stageOthers } from './stage.rows.ts';
import { createStaging, createSteps, READ_SHARE, rowsAfter, type Steps } from './staging.ts';
import { readXlsx } from './xlsx.read.ts';

type SourceFile = Pick<MigrationRow, 'file_id' | 'file_name' | 'file_size' | 'source_type'>;

/**
 * Reads the rows of a file, some at a time, and collects in `facts` which native types and columns there are.
 * @throws EstateError `validation_failed` if the file cannot be read.
 */
async function* readSource(
  blobs: BlobStore,
  file: SourceFile,
  facts: SourceFacts,
): AsyncGenerator<SourceRow[]> {
  let line = 0;
  let sheet: Sheet | undefined;
  try {
    for await (const part of rowsOf(blobs, file)) {
      if (sheet?.name !== part.sheet) sheet = createSheet(part.sheet, file.source_type);
      const rows = sheet.take(part.rows, facts).map((row) => {
        line += 1;
        return { ...row, line };
      });
      if (line > MAX_ROWS) throw new Error(`it has more than ${MAX_ROWS} rows`);
      if (rows.length > 0) yield rows;
    }
  } catch (error) {
    throw readError(error);
  }
}

/** Converts errors of the file itself; errors of the blob store stay as they are. */
function readError(error: unknown): unknown {
  const { code, name, message } = error as { code?: unknown; name?: string; message: string };
  const ofText = code === 'ERR_ENCODING_INVALID_ENCODED_DATA';
  // libraries throw plain errors, the system errors with a code
  const ofFile = name === 'Error' && (code === undefined || String(code).startsWith('Z_'));
  if (!ofFile && !ofText) return error;
  const why = ofText ? 'it is not UTF-8' : message.replace(/\s+/g, ' ').slice(0, 200);
  return new EstateError('validation_failed', `The file cannot be read: ${why}.`);
}

async function* rowsOf(blobs: BlobStore, file: SourceFile): AsyncGenerator<SheetRows> {
  const { ext, name } = path.parse(file.file_name);
  if (ext.toLowerCase() === '.xlsx') {
    yield* readXlsx(blobs, { id: file.file_id, size: file.file_size });
    return;
  }
  const content = await openContent(blobs, file.file_id);
  const separator = ext.toLowerCase() === '.tsv' ? '\t' : undefined;
  for await (const records of csvRecords(utf8Chunks(content), separator)) {
    const rows = records.map(({ line, cells, error }) => {
      if (error) throw new Error(`line ${line}: ${error.message}`);
      if (cells.length > MAX_COLUMNS) throw new Error(`line ${line} has more than ${MAX_COLUMNS} cells`);
      if (cells.some((cell) => cell.length > MAX_CELL))
        throw new Error(`line ${line} has a cell that is too long`);
      const bad = cells.find((cell) => cell.includes('\0'));
      if (bad !== undefined) throw badCell(line, bad);
      return { row: line, cells: cells.map(restore) };
    });
    yield { sheet: name.slice(0, 100) || 'table', rows };
  }
}

/** The error of a cell with a NUL, or with bytes that are not UTF-8. */
function badCell(line: number, cell: string): EstateError {
  const { code, message } = findTextError('file', cell)!;
  return invalidField(
    'file',
    code,
    `The file cannot be read: line ${line} ${message}. Save the file as UTF-8 and upload it again.`,
  );
}

const READ = 500;
const BATCH = 1_000;
/** The migration of a job. @throws JobFailed when it was deleted. */
export async function migrationOf(
  job: RunningJob<MigrationPayload>,
  { db }: Services,
): Promise<MigrationRow> {
  const [row] = await findRows(db, Migration, (query) => query.where({ id: job.payload.migration_id }));
  if (!row) throw new JobFailed('not_found', 'The migration was deleted.');
  return row;
}

/**
 * Reads the file of a migration, unless that is done, and creates its records: what each row is, and what applying it would
 * do. A resumed run creates the records again from the rows that were read.
 */
export async function runStaging(job: RunningJob<MigrationPayload>, services: Services): Promise<JobResult> {
  const { db } = services;
  let migration = await migrationOf(job, services);
  if (migration.parsed_at === null) {
    await parseFile(job, services, migration);
    migration = await migrationOf(job, services);
  }
  const { id } = migration;
  const staging = await createStaging(job.ctx, db, migration);
  const mapped = [...staging.mapped.values()];
  const natives = (isCard: boolean) =>
    mapped.flatMap(({ block, target }) =>
      target && (target.kind === 'card') === isCard ? block.native_type : [],
    );
  const { step, inSteps } = createSteps(job, db, staging);
  const cardsWith = (columns: string, condition: string) => (sql: Knex.Transaction, line: number) =>
    query(sql).rows<never>`select ${embed(columns)} from migration_records
      where migration_id = ${id} and entity_kind = 'card' and line > ${line}
         and ${embed(condition)} order by line limit ${embed(READ)}`;

  await step(0, 'Reading the columns', async (sql) => {
    await sql('migration_records').where({ migration_id: id }).delete();
    await removeStaged(sql, job.id);
    await stageModel(sql, staging);
  });
  await inSteps(
    0.1,
    'Converting rows to cards',
    (sql, line) => rowsAfter(staging, sql, line, natives(true)),
    (sql, rows) => stageCards(staging, sql, rows),
  );
  // without statistics of the new rows the planner would scan all of them for each look-up
  await query(db).run`analyze migration_records`;
  await inSteps(
    0.15,
    'Reading attachments of cards',
    (sql, line) => rowsAfter(staging, sql, line, natives(false)),
    (sql, rows) => stageOthers(staging, sql, rows),
  );
  await step(0.18, 'Resolving parents', (sql) => placeChildren(sql, id));
  await inSteps(
    0.2,
    'Resolving parents',
    cardsWith(
      `line, card_type_key as type, refs ->> 'parent' as parent`,
      `action = 'create' and refs ->> 'parent' is not null`,
    ),
    (sql, children) => findParents(sql, id, children),
  );
  await step(0.25, 'Resolving parents', (sql) => nameParents(sql, id));
  await inSteps(
    0.3,
    'Resolving related cards',
    cardsWith(relatedCard, `refs -> 'relations' is not null`),
    (sql, cards) => stageRelations(staging, sql, cards),
  );
  await previewCards(job, db, id, { step, inSteps });
  await step(0.92, 'Previewing relations', (sql) => previewOtherRecords(sql, id, job.ctx.metamodel));
  const { cardTypes, relationTypes } = job.ctx.metamodel;
  await inSteps(
    0.94,
    'Comparing cards',
    (sql, line) => readPlannedRecords(sql, id, 'card', line),
    (sql, records) => storeDiffs(sql, id, records, cardTypes),
  );
  await inSteps(
    0.96,
    'Comparing relations',
    (sql, line) => readPlannedRecords(sql, id, 'relation', line),
    (sql, records) => storeDiffs(sql, id, records, relationTypes),
  );
  let stats: Record<string, unknown> = {};
  await step(0.98, 'Counting', async (sql) => {
    await stageOmittedValues(sql, staging);
    stats = await countRecords(sql, id);
  });
  return await command(job.ctx, async (work) => {
    const { sql } = work;
    await removeStaged(sql, job.id);
    const previewed_at = new Date().toISOString();
    const metamodel_diff = modelDiff(migration, mapped);
    const values = { status: 'previewed', stats, metamodel_diff, error_message: null, previewed_at } as const;
    await updateRow(sql, Migration, { id }, values);
    work.emit(endedEvent('migration.previewed', migration, job.ctx.caller.userId));
    const result: JobResult = { message: 'Ready for review', result: { migration_id: id } };
    await job.finish({ sql }, result);
    return result;
  });
}

/** The checkpoint of a staging job. */
type StageProgress = { stage: 'read'; line: number } | { stage: 'stage' };

/**
 * Reads the file of a migration into its raw rows, and detects the native types in it. Resumes from the checkpoint.
 * @throws EstateError `validation_failed` if the file cannot be read.
 */
async function parseFile(job: RunningJob, { db, blobs }: Services, migration: MigrationRow): Promise<void> {
  const from = (job.resume as StageProgress | null) ?? { stage: 'read', line: 0 };
  const done = from.stage === 'read' ? from.line : 0;
  const facts: SourceFacts = { blocks: new Map(), version: null };
  let total = done;
  for await (const rows of readSource(blobs, migration, facts)) {
    job.signal.throwIfAborted();
    const fresh = rows.filter(({ line }) => line > done);
    if (fresh.length === 0) continue;
    total = fresh.at(-1)!.line;
    await inTransaction(db, async (sql) => {
      await query(sql).run`insert into migration_rows (migration_id, line, sheet, "row", native_type, cells)
         select ${migration.id}::uuid, line, sheet, "row", native_type, cells
         from jsonb_to_recordset(${JSON.stringify(fresh)}::jsonb) as v(line integer, sheet text,
         "row" integer, native_type text, cells jsonb)`;
      const checkpoint: StageProgress = { stage: 'read', line: total };
      await job.checkpoint({ sql }, { message: `Reading: ${total} rows`, checkpoint });
    });
  }
  const blocks = blocksOf(facts.blocks);
  const parsed_at = new Date().toISOString();
  await inTransaction(db, async (sql) => {
    const values = { blocks, snapshot_version: facts.version, status: 'parsed', parsed_at } as const;
    await updateRow(sql, Migration, { id: migration.id }, values);
    const checkpoint: StageProgress = { stage: 'stage' };
    await job.checkpoint({ sql }, { progress: READ_SHARE, message: `Read ${total} rows`, checkpoint });
  });
}

/** Determines what applying would do to each card, by a dry run of the import. */
async function previewCards(
  job: RunningJob,
  db: Db,
  migrationId: string,
  { step, inSteps }: Steps,
): Promise<void> {
  const { ctx, id: jobId, signal } = job;
  const message = 'Previewing cards';
  await inSteps(
    0.35,
    message,
    (sql, line) => readCardRecords(sql, migrationId, line, ['create'], READ),
    await createCardWriter(ctx, db, jobId),
  );
  const options = { kind: 'cards', mode: 'upsert', batchRows: BATCH } as const;
  const { batches } = await planImport(job, db, options, (sql) => job.checkpoint({ sql }, {}));
  for (let batch = 0; batch < batches; batch += 1) {
    signal.throwIfAborted();
    const planned = { ctx, kind: 'cards', jobId, batch, dryRun: true } as const;
    const outcomes = await attemptBatch(planned, async () => undefined);
    await step(0.4 + (0.5 * (batch + 1)) / batches, message, (sql) => storeOutcomes(sql, jobId, outcomes));
  }
  await step(0.91, message, (sql) => previewCardRecords(sql, migrationId, jobId));
}

interface PlannedRecord {
  line: number;
  type: string;
  payload: Record<string, unknown>;
  /** The stored card or relation; null for a new one. */
  stored: Record<string, unknown> | null;
}

type Diff = Record<string, { old: unknown; new: unknown }>;

/** The tables that records change, with the column of a record's type and the columns that rows can set. */
const tables = {
  card: {
    name: 'cards',
    type: 'card_type_key',
    columns: 'name, alias, description, subtype, status, external_id, parent_id, lifecycle, attributes',
  },
  relation: { name: 'relations', type: 'relation_type', columns: 'description, attributes' },
} as const;

/** The next cards or relations after a line that would be written, with what is stored. */
async function readPlannedRecords(
  sql: Knex.Transaction,
  migrationId: string,
  kind: keyof typeof tables,
  line: number,
): Promise<PlannedRecord[]> {
  const { name, type, columns } = tables[kind];
  return await query(sql).rows`select r.line, r.${embed(type)} as type, r.payload,
       (select to_jsonb(s) from (select ${embed(columns)} from ${embed(name)} where id = r.target_id) s) as stored
     from migration_records r
     where r.migration_id = ${migrationId} and r.entity_kind = ${kind} and r.line > ${line}
       and r.action in ('create', 'update') and r.payload is not null
     order by r.line limit ${embed(READ)}`;
}

/** Stores what applying each record would change, as `{field: {old, new}}`. */
async function storeDiffs(
  sql: Knex.Transaction,
  migrationId: string,
  records: PlannedRecord[],
  types: ReadonlyMap<string, { costKeys: readonly string[] }>,
): Promise<void> {
  const diffs = records.map((record) => {
    const diff = diffOf(record);
    const costs = (types.get(record.type)?.costKeys ?? []).map((key) => `attributes.${key}`);
    return { line: record.line, diff, cost_keys: costs.filter((key) => Object.hasOwn(diff, key)) };
  });
  await query(sql).run`update migration_records r set diff = v.diff, cost_keys = v.cost_keys
     from jsonb_to_recordset(${JSON.stringify(diffs)}::jsonb) as v(line integer, diff jsonb, cost_keys text[])
     where r.migration_id = ${migrationId} and r.line = v.line`;
}

function diffOf({ payload, stored }: PlannedRecord): Diff {
  const diff: Diff = {};
  const compare = (field: string, before: unknown, after: unknown) => {
    const old = before ?? null;
    if (JSON.stringify(old) !== JSON.stringify(after)) diff[field] = { old, new: after };
  };
  for (const [field, value] of Object.entries(payload)) {
    if (field === 'type') continue;
    if (field === 'attributes' || field === 'lifecycle') {
      const before = (stored?.[field] ?? {}) as Record<string, unknown>;
      for (const [key, own] of Object.entries(value as object)) compare(`${field}.${key}`, before[key], own);
    } else if (field === 'parent_external_id' || field === 'parent_path') {
      // the parent of an existing card is only resolved when the card is written
      if (!stored) compare(field, null, value);
    } else {
      compare(field, stored?.[field], typeof value === 'string' ? value.trim() : value);
    }
  }
  return diff;
}
