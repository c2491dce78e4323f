import { setTimeout as delay } from 'node:timers/promises';
import type { Knex } from 'knex';
import { inTransaction, queryRows, type Sql } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { createMissingTags, type WantedTag } from '../../inventory/tags/tags.missing.ts';
import { command } from '../../kernel/command.ts';
import { outcomeOf } from '../../kernel/jobs/jobs.outcome.ts';
import type { JobResult, JobStep, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { updateRow } from '../../kernel/resources/rows.ts';
import type { Services } from '../../kernel/services.ts';
import { attemptBatch } from '../imports/imports.apply-batches.ts';
import { planCards } from '../imports/imports.cards.plan.ts';
import { createCardStager } from '../imports/imports.cards.stage.ts';
import { readTagCatalogue } from '../imports/imports.people.ts';
import { planRelations } from '../imports/imports.relations.plan.ts';
import type { ImportKind } from '../imports/imports.row.ts';
import { countRows, removeStaged } from '../imports/imports.staging.ts';
import { writeAttached } from './apply.attached.ts';
import { noteCards, noteFollowers, noteRelations, stageRelationRows } from './apply.records.ts';
import { cardsBehind, handOver } from './import.rows.ts';
import { requireRights } from './migration.commands.ts';
import { endedEvent, failureOf, migrationEvent, recipientsOf } from './migration.events.ts';
import type { MigrationPayload } from './migration.jobs.ts';
import { Migration, type MigrationRow } from './migration.model.ts';
import { migrationOf } from './stage.run.ts';
import { countRecords } from './stage.told.ts';

/** How far writing a migration has come; stored with what was written. */
type ApplyProgress =
  | { stage: 'tags' }
  | { stage: 'rows'; line: number }
  | { stage: 'plan'; kind: ImportKind }
  | { stage: 'apply'; kind: ImportKind; batch: number; batches: number }
  | { stage: 'relations' }
  | { stage: 'attached'; line: number }
  | { stage: 'end' };

const PATIENCE = 12;
const PAUSE_MS = 5_000;
/** About which part of the time the cards are done at, and the relations. */
const shares = { cards: [0.1, 0.6], relations: [0.65, 0.98] } as const;

/**
 * Writes what a migration would make and change: tags first, then cards with their tags and people, then relations, each
 * by the stages of an import, then links and comments; each from where an earlier run was.
 */
export async function runApply(
  job: RunningJob<MigrationPayload>,
  services: Services,
  tuning: Tuning = { readRows: 500, batchRows: 1_000 },
): Promise<JobResult> {
  const migration = await migrationOf(job, services);
  await requireRights(services.db, job.ctx, migration.id);
  job.ctx.batch.rowCount = (await countsOf(services.db, migration.id)).total;
  let progress = await whereItWas(job, services);
  const applying: Applying = { job, services, migration, tuning };
  while (progress.stage !== 'end') {
    job.signal.throwIfAborted();
    progress = await steps[progress.stage](applying, progress as never);
  }
  return await finish(applying);
}

/** Where to go on: what was handed over and has been cleaned away since is handed over again. */
async function whereItWas(job: RunningJob<MigrationPayload>, { db }: Services): Promise<ApplyProgress> {
  const at = (job.resume as ApplyProgress | null) ?? { stage: 'tags' };
  if (at.stage === 'plan' || at.stage === 'apply') {
    if ((await countRows(db, job.id, at.kind)) > 0) return at;
    return at.kind === 'cards' ? { stage: 'rows', line: 0 } : { stage: 'relations' };
  }
  if (at.stage === 'rows' && (await countRows(db, job.id, 'cards')) === 0) return { stage: 'rows', line: 0 };
  return at;
}

interface Applying {
  job: RunningJob<MigrationPayload>;
  services: Services;
  migration: MigrationRow;
  tuning: Tuning;
}

/** Rows that are handed over at once, and that are written. */
interface Tuning {
  readRows: number;
  batchRows: number;
}

type Step<S extends ApplyProgress['stage']> = (
  applying: Applying,
  at: Extract<ApplyProgress, { stage: S }>,
) => Promise<ApplyProgress>;

const steps: { [S in Exclude<ApplyProgress['stage'], 'end'>]: Step<S> } = {
  tags: makeTags,
  rows: stageCardRows,
  plan: makePlan,
  apply: applyBatch,
  relations: async (applying) =>
    await next(
      applying,
      { stage: 'plan', kind: 'relations' },
      { progress: 0.62, message: 'Relating' },
      (sql) => stageRelationRows(sql, applying.migration.id, applying.job.id),
    ),
  attached: attach,
};

/** Does a part in a transaction that also stores where to go on. */
async function next(
  { job, services }: Applying,
  progress: ApplyProgress,
  told: Omit<JobStep, 'checkpoint'>,
  act: (sql: Knex.Transaction) => Promise<void>,
): Promise<ApplyProgress> {
  await inTransaction(services.db, async (sql) => {
    await act(sql);
    await job.checkpoint({ sql }, { ...told, checkpoint: progress });
  });
  return progress;
}

async function makeTags(applying: Applying): Promise<ApplyProgress> {
  const { job, services, migration } = applying;
  const wanted: WantedTag[] = await services
    .db('migration_records')
    .where({ migration_id: migration.id, entity_kind: 'tag', action: 'create' })
    .orderBy('line')
    .pluck('payload');
  for (let attempt = 1; wanted.length > 0; attempt += 1) {
    try {
      // at once, beside no other write; whoever comes again finds the tags there
      await createMissingTags(job.ctx, wanted, (work) => job.hold(work));
      break;
    } catch (error) {
      const busy = error instanceof EstateError && error.code === 'metamodel_busy';
      if (!busy || attempt === PATIENCE) throw error;
      await delay(PAUSE_MS, undefined, { signal: job.signal });
    }
  }
  return await next(
    applying,
    { stage: 'rows', line: 0 },
    { progress: 0.02, message: 'Writing' },
    async (sql) => {
      await removeStaged(sql, job.id);
      await sql('migration_records')
        .where({ migration_id: migration.id, action: 'create' })
        .whereIn('entity_kind', ['tag', 'tag_group'])
        .update({ status: 'applied' });
    },
  );
}

async function stageCardRows(applying: Applying, { line }: { line: number }): Promise<ApplyProgress> {
  const { job, services, migration, tuning } = applying;
  const { db } = services;
  const around = { stager: await createCardStager(job.ctx, db), catalogue: await readTagCatalogue(db) };
  for (let last = line; ; ) {
    job.signal.throwIfAborted();
    const from = last;
    await inTransaction(db, async (sql) => {
      const records = await cardsBehind(sql, migration.id, from, ['create', 'update'], tuning.readRows);
      if (records.length > 0) await handOver(job.ctx, sql, job.id, around, records);
      last = records.at(-1)?.line ?? from;
      const checkpoint: ApplyProgress = { stage: 'rows', line: last };
      await job.checkpoint({ sql }, { checkpoint });
    });
    if (last === from) return { stage: 'plan', kind: 'cards' };
  }
}

async function makePlan(applying: Applying, { kind }: { kind: ImportKind }): Promise<ApplyProgress> {
  const { job, services, migration } = applying;
  const { ctx, id: jobId, signal } = job;
  return await inTransaction(services.db, async (sql) => {
    const planning = {
      sql,
      ctx,
      jobId,
      mode: 'upsert' as const,
      batchRows: applying.tuning.batchRows,
      pulse: () => signal.throwIfAborted(),
    };
    const { batches } = await (kind === 'cards' ? planCards(planning) : planRelations(planning));
    // what cannot be carried out is known by now
    await note(sql, applying, kind, null);
    const progress: ApplyProgress = { stage: 'apply', kind, batch: 0, batches };
    const counts = await countsOf(sql, migration.id);
    await job.checkpoint({ sql }, { progress: shares[kind][0], counts, checkpoint: progress });
    return progress;
  });
}

async function applyBatch(
  applying: Applying,
  at: Extract<ApplyProgress, { stage: 'apply' }>,
): Promise<ApplyProgress> {
  const { job, migration } = applying;
  const { kind, batch, batches } = at;
  if (batch >= batches) return kind === 'cards' ? { stage: 'relations' } : { stage: 'attached', line: 0 };
  const progress: ApplyProgress = { ...at, batch: batch + 1 };
  const [from, to] = shares[kind];
  const planned = { ctx: job.ctx, kind, jobId: job.id, batch, dryRun: false };
  await attemptBatch(planned, async (work) => {
    await note(work.sql, applying, kind, batch);
    await job.checkpoint(work, {
      progress: from + ((to - from) * (batch + 1)) / batches,
      message: `Writing ${kind}: ${batch + 1} of ${batches}`,
      counts: await countsOf(work.sql, migration.id),
      checkpoint: progress,
    });
  });
  return progress;
}

/** Writes some of the links and comments, which hang on cards that are there by now. */
async function attach({ job, migration }: Applying, { line }: { line: number }): Promise<ApplyProgress> {
  return await command(job.ctx, async (work) => {
    const last = await writeAttached(work, migration.id, line, job.ctx.caller.userId!);
    const progress: ApplyProgress = last === line ? { stage: 'end' } : { stage: 'attached', line: last };
    const counts = await countsOf(work.sql, migration.id);
    await job.checkpoint(work, { message: 'Writing links and comments', counts, checkpoint: progress });
    return progress;
  });
}

/** Notes at the records what became of a batch of rows, or of those that the plan has failed. */
async function note(
  sql: Knex.Transaction,
  { job, migration }: Applying,
  kind: ImportKind,
  batch: number | null,
): Promise<void> {
  const place = { migrationId: migration.id, jobId: job.id, batch };
  if (kind === 'relations') return await noteRelations(sql, place);
  await noteCards(sql, place);
  await noteFollowers(sql, migration.id);
}

async function countsOf(sql: Sql, migrationId: string): Promise<Record<string, number>> {
  const [counts] = await queryRows<Record<string, number>>(
    sql,
    `select (count(*) filter (where written))::int as total,
       (count(*) filter (where written and status = 'applied'))::int as applied,
       (count(*) filter (where written and status = 'error'))::int as failed,
       (count(*) filter (where action = 'conflict')
         + coalesce(sum(jsonb_array_length(left_out)), 0))::int as left_out
     from migration_records, lateral (select entity_kind in ('card', 'relation', 'document', 'comment')
       and action in ('create', 'update') as written) w where migration_id = ?`,
    [migrationId],
  );
  return counts!;
}

async function finish({ job, migration }: Applying): Promise<JobResult> {
  return await command(job.ctx, async (work) => {
    const { sql } = work;
    await removeStaged(sql, job.id);
    const stats = await countRecords(sql, migration.id);
    const counts = await countsOf(sql, migration.id);
    const { error } = outcomeOf({ counts });
    if (error) {
      // the migration is shown as failed while its job is, and can be corrected and applied again
      await updateRow(sql, Migration, { id: migration.id }, { stats, error_message: error.message });
      work.emit(endedEvent('migration.failed', migration, job.ctx.caller.userId, failureOf(error)));
    } else {
      const after = await updateRow(
        sql,
        Migration,
        { id: migration.id },
        {
          status: 'applied',
          stats,
          applied_at: new Date().toISOString(),
          error_message: null,
        },
      );
      const recipients = recipientsOf(migration, job.ctx.caller.userId);
      work.emit(migrationEvent('migration.applied', migration, after, { counts, recipients }));
    }
    const result: JobResult = {
      message: `${counts.applied} of ${counts.total} records applied, ${counts.failed} failed, ${counts.left_out} left out`,
      counts,
      result: { migration_id: migration.id },
    };
    await job.finish({ sql }, result);
    return result;
  });
}
