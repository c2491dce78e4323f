import { randomUUID } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { inTransaction, query, type Transaction } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { openContent, type StoredContent } from '../../kernel/files/files.store.ts';
import type { StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import type { JobCounts, JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import type { Services } from '../../kernel/services.ts';
import { decodeXml } from '../../modelling/bpm/bpmn.model.ts';
import { applyPlan, type WholeImport, writeAtOnce } from '../imports/imports.apply-batches.ts';
import { createStager, storeRows } from '../imports/imports.cards.stage.ts';
import { planStaged } from '../imports/imports.plan.ts';
import { dropPlan } from '../imports/imports.planning.ts';
import { endImport, startFileJob } from '../imports/imports.report.ts';
import type { InventoryKind } from '../imports/imports.row.ts';
import { readObjects } from '../imports/imports.source.ts';
import { removeStaged } from '../imports/imports.staged.clean.ts';
import type { Outcome, RowOutcome } from '../imports/imports.types.ts';
import { type ArchimateImport, archimateImportJob } from './archimate.jobs.ts';
import { importView, type Model, type ModelView } from './archimate.parse.ts';
import { droppedParts, type ModelRow, type NotImported, rowsOf } from './archimate.rows.ts';
import { readModelInThread } from './archimate.thread.ts';

/** The permissions that an import of a model needs. @throws EstateError `forbidden` naming the first missing one. */
export function requireModelRights({ caller }: Ctx, { mode }: Pick<ArchimateImport, 'mode'>): void {
  requirePermission(caller, 'inventory.create');
  if (mode === 'upsert') requirePermission(caller, 'inventory.edit');
  requirePermission(caller, 'relations.manage');
  requirePermission(caller, 'diagrams.manage');
}

/** Starts a job that imports an uploaded model. @throws EstateError `forbidden`. */
export async function startModelImport(
  ctx: Ctx,
  content: StoredContent,
  options: Omit<ArchimateImport, 'file_id'>,
): Promise<StartedJob> {
  requireModelRights(ctx, options);
  const file = { name: 'model.xml', mediaType: 'application/xml' };
  return await startFileJob(ctx, content, file, archimateImportJob, options, { format: 'archimate' });
}

/** A line of the report: one concept of the model, its outcome, and the parts of it that were not imported. */
interface ReportLine {
  kind: ModelRow['kind'] | 'view';
  identifier: string;
  name: string;
  outcome: Outcome;
  errors: FieldError[];
  not_imported?: NotImported;
}

/** Counts of the parts of imported concepts that are not stored. */
interface NotImportedCounts
  extends Record<'properties' | 'names' | 'languages' | 'types' | 'attributes', number> {
  /** Entries of the model's folders. */
  folder_entries: number;
}

interface Outcomes {
  lines: ReportLine[];
  notImported: NotImportedCounts;
}

/**
 * Imports a model with the checks of the imports of cards and relations, and its views as diagrams: everything that is
 * valid, in one transaction together with the job's end. A concept that is not valid becomes a line of the report and
 * does not stop the others.
 */
export async function runModelImport(
  job: RunningJob<ArchimateImport>,
  services: Services,
): Promise<JobResult> {
  const { ctx, payload } = job;
  requireModelRights(ctx, payload);
  const model = await readModel(services, payload.file_id);
  const rows = await rowsOf(ctx, model);
  ctx.batch.rowCount = model.elements.length + model.relationships.length + model.views.length;
  if (!payload.dry_run) {
    return await writeAtOnce(job, async (whole) => {
      const imported = await importModel({ ...whole, job }, model, rows);
      return await endWith(whole.work.sql, job, services, imported);
    });
  }
  const outcomes = await writeAtOnce(job, (whole) => importModel({ ...whole, job }, model, rows), {
    dryRun: true,
  });
  return await inTransaction(services.db, (sql) => endWith(sql, job, services, outcomes));
}

async function readModel({ blobs }: Services, fileId: string): Promise<Model> {
  const bytes = await buffer(await openContent(blobs, fileId));
  try {
    return await readModelInThread(decodeXml(bytes).text.replace(/^\uFEFF/, ''));
  } catch (error) {
    if (error instanceof EstateError) throw error;
    const why = (error as Error).message.replace(/\s+/g, ' ').slice(0, 200);
    throw invalidField('file', 'bad_model', `cannot be read: ${why}`);
  }
}

async function importModel(
  importing: Importing,
  model: Model,
  { cards, relations }: { cards: ModelRow[]; relations: ModelRow[] },
): Promise<Outcomes> {
  const { job } = importing;
  const ids = { cards: randomUUID(), relations: randomUUID() };
  job.progress(0.1, `Importing ${cards.length} elements`);
  const lines = reportRows(cards, await importRows(importing, 'cards', ids.cards, cards));
  job.progress(0.5, `Importing ${relations.length} relationships`);
  lines.push(...reportRows(relations, await importRows(importing, 'relations', ids.relations, relations)));
  job.progress(0.9, `Importing ${model.views.length} views`);
  const cardsByLine = await cardIdsOf(importing.work.sql, ids.cards);
  const names = new Map(model.elements.map(({ identifier, name }) => [identifier, name]));
  const cardIds = new Map(
    cards.flatMap(({ identifier }, at) => {
      const id = cardsByLine.get(at + 1);
      return id ? [[identifier, id] as const] : [];
    }),
  );
  const around = { ids: cardIds, nameOf: (element: string) => names.get(element) ?? '' };
  for (const view of model.views) lines.push(await importOneView(importing, view, around));
  for (const id of Object.values(ids)) await removeStaged(importing.work.sql, id);
  await importing.flush();
  return { lines, notImported: countNotImported(lines, relations, model) };
}

function reportRows(
  rows: ModelRow[],
  outcomes: Map<number, { outcome: Outcome; errors: FieldError[] | null }>,
): ReportLine[] {
  // The import stages name other rows by their lines, which do not exist in a model file.
  const named = (message: string) =>
    message.replace(
      /\bline (\d+)/g,
      (_, line) => `${rows[0]!.kind} "${rows[Number(line) - 1]?.identifier ?? ''}"`,
    );
  return rows.flatMap(({ kind, identifier, name, row, error, notImported }, at): ReportLine[] => {
    // A parent relationship without its own row has the outcome of the card of its target.
    if (!row && !error) return [];
    const { outcome, errors } = outcomes.get(at + 1) ?? { outcome: 'failed' as const, errors: null };
    const found = error
      ? [error]
      : (errors ?? []).map((error) => ({ ...error, message: named(error.message) }));
    const line = { kind, identifier, name, outcome, errors: found };
    return [isEmpty(notImported) ? line : { ...line, not_imported: notImported }];
  });
}

function countNotImported(lines: ReportLine[], relations: ModelRow[], model: Model): NotImportedCounts {
  const counts = { properties: 0, names: 0, languages: 0, types: 0, attributes: 0 };
  const imported = lines
    .filter(({ outcome }) => outcome !== 'failed')
    .map(({ not_imported }) => not_imported ?? {});
  const parents = relations.filter(({ row, error }) => !row && !error).map(({ notImported }) => notImported);
  for (const { properties = [], name, languages = 0, type, attributes = [] } of [...imported, ...parents]) {
    counts.properties += properties.length;
    counts.names += name === undefined ? 0 : 1;
    counts.languages += languages;
    counts.types += type === undefined ? 0 : 1;
    counts.attributes += attributes.length;
  }
  return { ...counts, folder_entries: model.inFolders };
}

const isEmpty = (notImported: NotImported): boolean => Object.keys(notImported).length === 0;

async function importOneView(
  { work, job }: Importing,
  view: ModelView,
  around: Parameters<typeof importView>[3],
): Promise<ReportLine> {
  const notImported = droppedParts(view);
  const place = {
    kind: 'view' as const,
    identifier: view.identifier,
    name: view.name,
    ...(isEmpty(notImported) ? {} : { not_imported: notImported }),
  };
  try {
    const again = job.payload.mode === 'upsert';
    return { ...place, outcome: await importView(work, job.ctx, view, around, again), errors: [] };
  } catch (error) {
    if (!(error instanceof EstateError)) throw error;
    const errors = error.errors ?? [{ field: 'view', code: error.code, message: error.message }];
    return { ...place, outcome: 'failed', errors };
  }
}

async function endWith(
  sql: Transaction,
  job: RunningJob<ArchimateImport>,
  { blobs }: Services,
  { lines: all, notImported }: Outcomes,
): Promise<JobResult> {
  const counts: JobCounts = { total: all.length, created: 0, updated: 0, unchanged: 0, failed: 0 };
  for (const { outcome } of all) counts[outcome] = (counts[outcome] ?? 0) + 1;
  const lines = all.filter(({ outcome }) => job.payload.report === 'all' || outcome === 'failed');
  return await endImport(sql, job, blobs, {
    name: 'archimate',
    report: lines.map((line) => `${JSON.stringify(line)}\n`),
    counts,
    facts: { not_imported: notImported },
  });
}

const BATCH_ROWS = 1_000;

/** The state of a model's import. */
interface Importing extends WholeImport {
  job: RunningJob<ArchimateImport>;
}

/**
 * Imports rows of one kind in the caller's transaction with the stages of a file import; row `n` is line `n`.
 * @param id the id under which they are staged.
 */
async function importRows(
  importing: Importing,
  kind: InventoryKind,
  id: string,
  rows: readonly ModelRow[],
): Promise<Map<number, RowOutcome>> {
  const { work, job, searchTaken, flush } = importing;
  const { sql } = work;
  await stage(importing, kind, id, rows);
  const { batches } = await planStaged(job, sql, id, { kind, mode: job.payload.mode, batchRows: BATCH_ROWS });
  const plan = { work, ctx: job.ctx, jobId: id, searchTaken, signal: job.signal, batches };
  await applyPlan({ ...plan, kind, applied: flush });
  await dropPlan(sql);
  const outcomes = await sql('import_outcomes').where({ job_id: id }).select('line', 'outcome', 'errors');
  return new Map(outcomes.map((row: RowOutcome) => [row.line, row]));
}

/** Stages rows; row `n` is line `n`, and rows that are missing have none. */
async function stage({ work, job }: Importing, kind: InventoryKind, id: string, rows: readonly ModelRow[]) {
  const stageRows = await createStager(job.ctx, work.sql, kind);
  const objects = rows.flatMap(({ row }, at) => (row ? [{ line: at + 1, value: row }] : []));
  for (let from = 0; from < objects.length; from += BATCH_ROWS) {
    job.signal.throwIfAborted();
    const read = readObjects(job.ctx.metamodel, kind, objects.slice(from, from + BATCH_ROWS));
    await storeRows(work.sql, id, kind, await stageRows(work.sql, read));
  }
}

/** The cards of the applied rows, by line. */
async function cardIdsOf(sql: Transaction, id: string): Promise<Map<number, string>> {
  const rows = await query(sql).rows`select p.line, p.card_id from import_card_plan p
    join import_outcomes o on o.job_id = p.job_id and o.line = p.line
     where p.job_id = ${id} and o.outcome <> 'failed'`;
  return new Map(rows.map(({ line, card_id }: { line: number; card_id: string }) => [line, card_id]));
}
