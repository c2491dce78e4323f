import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Knex } from 'knex';
import { inTransaction } from '../../platform/database.ts';
import { EstateError, type FieldError, invalidField } from '../../platform/errors.ts';
import { command, type Work } from '../command.ts';
import { holdEvents } from '../events/events.held.ts';
import { openContent, recordFile, storeContent } from '../files/files.store.ts';
import { isClash } from '../imports/imports.apply-batches.ts';
import { BatchConflict, type Outcome } from '../imports/imports.types.ts';
import type { JobCounts, JobResult, RunningJob } from '../jobs/jobs.running.ts';
import type { ArchimateImport } from '../jobs/kinds/archimate.ts';
import type { Services } from '../services.ts';
import { type Model, type ModelView, parseModel } from './archimate.parse.ts';
import { type ModelRow, rowsOf } from './archimate.rows.ts';
import { requireModelRights } from './archimate.start.ts';
import { importView } from './archimate.views.ts';
import { cardIdsOf, type Importing, importRows, removeRows } from './archimate.write.ts';

const MAX_ATTEMPTS = 5;

/** What became of one thing of the model. */
interface Told {
  kind: ModelRow['kind'] | 'view';
  identifier: string;
  name: string;
  outcome: Outcome;
  errors: FieldError[];
}

/**
 * Imports a model by the rules of the imports of cards and relations, and its views as diagrams: all that fits, in one
 * transaction, with the job's end. What does not fit is told in the report and stops nothing else.
 */
export async function runModelImport(
  job: RunningJob<ArchimateImport>,
  services: Services,
): Promise<JobResult> {
  const { ctx, payload } = job;
  requireModelRights(ctx, payload);
  const model = await readModel(services, payload.file_id);
  const rows = rowsOf(ctx, model);
  let searchTaken = false;
  for (let attempt = 1; ; attempt += 1) {
    try {
      let result: JobResult = {};
      const told = await command(
        ctx,
        async (work) => {
          await job.hold(work);
          const events = await holdEvents(work, ctx);
          const importing = { work: events.work, job, searchTaken, flush: events.flush };
          const outcomes = await importModel(importing, model, rows);
          if (!payload.dry_run) {
            result = await endWith(work.sql, job, services, outcomes);
            await events.record();
          }
          return outcomes;
        },
        { dryRun: payload.dry_run },
      );
      if (!payload.dry_run) return result;
      return await inTransaction(services.db, (sql) => endWith(sql, job, services, told));
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !(error instanceof BatchConflict || isClash(error))) throw error;
      searchTaken = true;
    }
  }
}

async function readModel({ blobs }: Services, fileId: string): Promise<Model> {
  const xml = await text(await openContent(blobs, fileId));
  try {
    return parseModel(xml.replace(/^\uFEFF/, ''));
  } catch (error) {
    const why = (error as Error).message.replace(/\s+/g, ' ').slice(0, 200);
    throw invalidField('file', 'bad_model', `cannot be read: ${why}`);
  }
}

async function importModel(
  importing: Importing,
  model: Model,
  { cards, relations }: { cards: ModelRow[]; relations: ModelRow[] },
): Promise<Told[]> {
  const { job } = importing;
  const ids = { cards: randomUUID(), relations: randomUUID() };
  job.progress(0.1, `Importing ${cards.length} elements`);
  const told = tellRows(cards, await importRows(importing, 'cards', ids.cards, cards));
  job.progress(0.5, `Importing ${relations.length} relationships`);
  told.push(...tellRows(relations, await importRows(importing, 'relations', ids.relations, relations)));
  job.progress(0.9, `Importing ${model.views.length} views`);
  const lines = await cardIdsOf(importing.work.sql, ids.cards);
  const names = new Map(model.elements.map(({ identifier, name }) => [identifier, name]));
  const cardIds = new Map(
    cards.flatMap(({ identifier }, at) => {
      const id = lines.get(at + 1);
      return id ? [[identifier, id] as const] : [];
    }),
  );
  const around = { ids: cardIds, nameOf: (element: string) => names.get(element) ?? '' };
  for (const view of model.views) told.push(await tellView(importing, view, around));
  await removeRows(importing.work.sql, Object.values(ids));
  await importing.flush();
  return told;
}

function tellRows(
  rows: ModelRow[],
  outcomes: Map<number, { outcome: Outcome; errors: FieldError[] | null }>,
) {
  return rows.map(({ kind, identifier, name, fault }, at): Told => {
    const { outcome, errors } = outcomes.get(at + 1) ?? { outcome: 'failed' as const, errors: null };
    return { kind, identifier, name, outcome, errors: fault ? [fault] : (errors ?? []) };
  });
}

async function tellView(
  { work, job }: Importing,
  view: ModelView,
  around: Parameters<typeof importView>[3],
): Promise<Told> {
  const place = { kind: 'view' as const, identifier: view.identifier, name: view.name };
  try {
    return { ...place, outcome: await importView(work as Work, job.ctx, view, around), errors: [] };
  } catch (error) {
    if (!(error instanceof EstateError)) throw error;
    const errors = error.errors ?? [{ field: 'view', code: error.code, message: error.message }];
    return { ...place, outcome: 'failed', errors };
  }
}

async function endWith(
  sql: Knex.Transaction,
  job: RunningJob<ArchimateImport>,
  { blobs }: Services,
  told: Told[],
): Promise<JobResult> {
  const { payload, ctx } = job;
  const counts: JobCounts = { total: told.length, created: 0, updated: 0, unchanged: 0, failed: 0 };
  for (const { outcome } of told) counts[outcome] = (counts[outcome] ?? 0) + 1;
  const lines = told.filter(({ outcome }) => payload.report === 'all' || outcome === 'failed');
  const content = await storeContent(blobs, Readable.from(lines.map((line) => `${JSON.stringify(line)}\n`)));
  const moment = new Date();
  const file = await recordFile(sql, content, {
    name: `archimate-report-${moment.toISOString().slice(0, 19).replaceAll(':', '-')}.ndjson`,
    mediaType: 'application/x-ndjson',
    ownerId: ctx.caller.userId,
    // faults never tell values
    withCosts: false,
    expiresAt: null,
  });
  await sql('files').where({ id: payload.file_id }).update({ expires_at: moment });
  const { created, updated, unchanged, failed } = counts;
  const said = `${created} created, ${updated} updated, ${unchanged} unchanged, ${failed} failed`;
  const result: JobResult = {
    fileId: file.id,
    message: payload.dry_run ? `Dry run: ${said}` : said,
    counts,
    result: {
      mode: payload.mode,
      dry_run: payload.dry_run,
      written: !payload.dry_run,
      report: { name: file.name, size: file.size, sha256: file.sha256 },
    },
  };
  await job.finish({ sql }, result);
  return result;
}
