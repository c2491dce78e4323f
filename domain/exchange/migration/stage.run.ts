import path from 'node:path';
import type { BlobStore } from '../../../platform/blobs.ts';
import { embed, inTransaction, query } from '../../../platform/database.ts';
import { type EstateError, invalidField } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import { openContent } from '../../kernel/files/files.store.ts';
import { JobFailed, type JobResult, type RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { findRows, updateRow } from '../../kernel/resources/rows.ts';
import type { Services } from '../../kernel/services.ts';
import { restore } from '../../kernel/transfer/csv-cells.ts';
import { readError } from '../../kernel/transfer/read-error.ts';
import { MAX_CELL, MAX_COLUMNS, readXlsx, type SheetRows } from '../../kernel/transfer/xlsx.read.ts';
import { csvRecords } from '../imports/imports.csv-records.ts';
import { removeStaged } from '../imports/imports.staged.clean.ts';
import { findTextError, utf8Chunks } from '../imports/imports.utf8.ts';
import { endedEvent } from './migration.events.ts';
import { defaultTuning, importRecords, type RecordImport } from './migration.import.ts';
import { Migration, type MigrationPayload, type MigrationRow } from './migration.list.ts';
import { blocksOf, createSheet, type Sheet, type SheetLabels } from './source.blocks.ts';
import { MAX_ROWS, type SourceFacts, type SourceRow } from './source.types.ts';
import { stageCards } from './stage.cards.ts';
import { nameParents, placeRecords, type Reference, resolveReferences } from './stage.lookup.ts';
import { previewDiffs, previewOtherRecords } from './stage.preview.ts';
import { stageOthers } from './stage.rows.ts';
import {
  countRecords,
  createStaging,
  createSteps,
  modelDiff,
  progressOf,
  READ_SHARE,
  rowsAfter,
  sheetLabels,
  stageModel,
  stageOmittedValues,
  stagePeopleAndTags,
} from './staging.ts';

type SourceFile = Pick<MigrationRow, 'file_id' | 'file_name' | 'file_size' | 'source_type'>;

/**
 * Reads the rows of a file, some at a time, and collects in `facts` which native types and columns there are.
 * @throws EstateError `validation_failed` if the file cannot be read.
 */
async function* readSource(
  blobs: BlobStore,
  file: SourceFile,
  facts: SourceFacts,
  labels: SheetLabels,
): AsyncGenerator<SourceRow[]> {
  let line = 0;
  let sheet: Sheet | undefined;
  const ours = file.source_type === 'sheet' ? labels : undefined;
  try {
    for await (const part of rowsOf(blobs, file)) {
      if (sheet?.name !== part.sheet) sheet = createSheet(part.sheet, file.source_type, ours);
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
    yield { sheet: name.slice(0, 100) || 'table', index: 0, rows };
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
  const { step, inSteps } = createSteps(job, db);

  await step(0, 'Reading the columns', async (sql) => {
    await sql('migration_records').where({ migration_id: id }).delete();
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
  await step(0.18, 'Reading people and tags', (sql) => stagePeopleAndTags(sql, id));
  await inSteps(
    0.2,
    'Resolving references to cards',
    (sql, line) =>
      query(sql).rows<{ line: number; refs: Reference[] }>`select line, refs from migration_records
        where migration_id = ${id} and line > ${line} and refs is not null order by line limit ${embed(READ)}`,
    (sql, records) => resolveReferences(sql, id, records),
  );
  await step(0.3, 'Resolving parents', async (sql) => {
    await placeRecords(sql, id);
    await nameParents(sql, id);
  });
  const advance: RecordImport['advance'] = (work, kind, share) =>
    job.checkpoint(work, { progress: progressOf(0.35 + 0.55 * share), message: `Previewing ${kind}` });
  await importRecords({ job, db, migrationId: id, dryRun: true, tuning: defaultTuning, advance }, 'cards');
  const { metamodel } = job.ctx;
  await step(0.92, 'Previewing relations', (sql) => previewOtherRecords(sql, id, metamodel));
  await step(0.94, 'Comparing cards', (sql) => previewDiffs(sql, id, 'card', metamodel));
  await step(0.96, 'Comparing relations', (sql) => previewDiffs(sql, id, 'relation', metamodel));
  let stats: Record<string, unknown> = {};
  await step(0.98, 'Counting', async (sql) => {
    await stageOmittedValues(sql, id);
    ({ stats } = await countRecords(sql, id));
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
  for await (const rows of readSource(blobs, migration, facts, sheetLabels(job.ctx))) {
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
