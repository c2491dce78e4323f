import { setTimeout as delay } from 'node:timers/promises';
import { inTransaction, query, type Sql } from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { createMissingTags, type WantedTag } from '../../inventory/tags/tags.commands.ts';
import { command } from '../../kernel/command.ts';
import { outcomeOf } from '../../kernel/jobs/jobs.lease.ts';
import type { JobResult, RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { updateRow } from '../../kernel/resources/rows.ts';
import type { Services } from '../../kernel/services.ts';
import { attemptBatch } from '../imports/imports.apply-batches.ts';
import { countRows, removeStaged } from '../imports/imports.cards.stage.ts';
import { planImport } from '../imports/imports.plan.ts';
import type { ImportKind } from '../imports/imports.row.ts';
import { writeAttached } from './apply.attached.ts';
import { createCardWriter, readCardRecords } from './import.cards.ts';
import { requireRights } from './migration.commands.ts';
import { endedEvent, failureOf, migrationEvent, recipientsOf } from './migration.events.ts';
import { Migration, type MigrationPayload, type MigrationRow } from './migration.list.ts';
import { recordOutcomes } from './stage.preview.ts';
import { countRecords } from './stage.report.ts';
import { migrationOf } from './stage.run.ts';

/** The checkpoint of applying a migration. */
type ApplyProgress =
  | { stage: 'tags' }
  | { stage: 'rows'; line: number }
  | { stage: 'plan'; kind: ImportKind }
  | { stage: 'apply'; kind: ImportKind; batch: number; batches: number }
  | { stage: 'relations' }
  | { stage: 'attached'; line: number }
  | { stage: 'end' };

const TAG_ATTEMPTS = 12;
const TAG_PAUSE_MS = 5_000;
/** The approximate shares of the time at which writing cards and relations begins and ends. */
const shares = { cards: [0.1, 0.6], relations: [0.65, 0.98] } as const;

interface Applying {
  job: RunningJob<MigrationPayload>;
  services: Services;
  migration: MigrationRow;
  /** Maximum rows of one read, and of one batch of writes. */
  tuning: { readRows: number; batchRows: number };
}

/**
 * Writes a migration into the inventory: missing tags, cards with their tags and stakeholders, relations, and last links
 * and comments. Cards and relations are written by the stages of an import. Resumes from the checkpoint.
 */
export async function runApply(
  job: RunningJob<MigrationPayload>,
  services: Services,
  tuning: Applying['tuning'] = { readRows: 500, batchRows: 1_000 },
): Promise<JobResult> {
  const migration = await migrationOf(job, services);
  await requireRights(services.db, job.ctx, migration.id);
  job.ctx.batch.rowCount = (await countsOf(services.db, migration.id)).total;
  const applying: Applying = { job, services, migration, tuning };
  let progress = await resumeFrom(applying);
  while (progress.stage !== 'end') {
    job.signal.throwIfAborted();
    progress = await advance(applying, progress);
  }
  return await finish(applying);
}

/** The stage to continue with. Staged rows that were cleaned up meanwhile are staged again. */
async function resumeFrom({ job, services: { db } }: Applying): Promise<ApplyProgress> {
  const at = (job.resume as ApplyProgress | null) ?? { stage: 'tags' };
  if (at.stage === 'plan' || at.stage === 'apply') {
    if ((await countRows(db, job.id, at.kind)) > 0) return at;
    return at.kind === 'cards' ? { stage: 'rows', line: 0 } : { stage: 'relations' };
  }
  if (at.stage === 'rows' && (await countRows(db, job.id, 'cards')) === 0) return { stage: 'rows', line: 0 };
  return at;
}

/** Executes one stage, or one batch of it. @returns the next one, which is stored in the same transaction. */
async function advance(
  applying: Applying,
  at: Exclude<ApplyProgress, { stage: 'end' }>,
): Promise<ApplyProgress> {
  switch (at.stage) {
    case 'tags':
      return await writeTags(applying);
    case 'rows':
      return await stageCardRows(applying, at.line);
    case 'plan':
      return await plan(applying, at.kind);
    case 'apply':
      return await applyBatch(applying, at);
    case 'relations':
      return await stageRelationRows(applying);
    case 'attached':
      return await attach(applying, at.line);
  }
}

async function writeTags({ job, services: { db }, migration }: Applying): Promise<ApplyProgress> {
  const wanted: WantedTag[] = await db('migration_records')
    .where({ migration_id: migration.id, entity_kind: 'tag', action: 'create' })
    .orderBy('line')
    .pluck('payload');
  for (let attempt = 1; wanted.length > 0; attempt += 1) {
    try {
      // in one transaction, which excludes all other writes; tags of an earlier attempt exist
      await createMissingTags(job.ctx, wanted, (work) => job.hold(work));
      break;
    } catch (error) {
      const isBusy = error instanceof EstateError && error.code === 'metamodel_busy';
      if (!isBusy || attempt === TAG_ATTEMPTS) throw error;
      await delay(TAG_PAUSE_MS, undefined, { signal: job.signal });
    }
  }
  const next: ApplyProgress = { stage: 'rows', line: 0 };
  await inTransaction(db, async (sql) => {
    await removeStaged(sql, job.id);
    await query(sql).run`update migration_records set status = 'applied'
      where migration_id = ${migration.id} and action = 'create' and entity_kind in ('tag', 'tag_group')`;
    await job.checkpoint({ sql }, { progress: 0.02, message: 'Writing', checkpoint: next });
  });
  return next;
}

/** Stages some of the cards for the import. */
async function stageCardRows(applying: Applying, line: number): Promise<ApplyProgress> {
  const { job, services, migration, tuning } = applying;
  const write = await createCardWriter(job.ctx, services.db, job.id);
  return await inTransaction(services.db, async (sql) => {
    const records = await readCardRecords(sql, migration.id, line, ['create', 'update'], tuning.readRows);
    if (records.length === 0) return { stage: 'plan', kind: 'cards' };
    await write(sql, records);
    const next: ApplyProgress = { stage: 'rows', line: records.at(-1)!.line };
    await job.checkpoint({ sql }, { checkpoint: next });
    return next;
  });
}

/** Stages the relations whose cards exist; the others have failed. */
async function stageRelationRows({ job, services, migration: { id } }: Applying): Promise<ApplyProgress> {
  const next: ApplyProgress = { stage: 'plan', kind: 'relations' };
  await inTransaction(services.db, async (sql) => {
    await query(sql).run`with ends as (
         select r.line, r.relation_type, coalesce(r.payload, '{}') as payload,
           coalesce(r.source_card, s.target_id) as source, coalesce(r.target_card, t.target_id) as target
         from migration_records r
         left join migration_records s on s.migration_id = r.migration_id and s.line = r.source_line
         left join migration_records t on t.migration_id = r.migration_id and t.line = r.target_line
         where r.migration_id = ${id} and r.entity_kind = 'relation' and r.action in ('create', 'update')
       ), failed as (
         update migration_records r set status = 'error', error_message = 'one of its cards was not written'
         from ends e where r.migration_id = ${id} and r.line = e.line
         and (e.source is null or e.target is null)
       )
       insert into import_relation_rows (job_id, line, type, source_id, target_id, bytes, payload)
       select ${job.id}::uuid, line, relation_type, source, target, octet_length(payload::text), payload
       from ends where source is not null and target is not null`;
    await job.checkpoint({ sql }, { progress: 0.62, message: 'Relating', checkpoint: next });
  });
  return next;
}

async function plan(applying: Applying, kind: ImportKind): Promise<ApplyProgress> {
  const { job, services, migration, tuning } = applying;
  const options = { kind, mode: 'upsert', batchRows: tuning.batchRows } as const;
  const next = (batches: number): ApplyProgress => ({ stage: 'apply', kind, batch: 0, batches });
  const { batches } = await planImport(job, services.db, options, async (sql, planned) => {
    // rows that failed in planning have their outcomes now
    await recordOutcomes(sql, kind, { migrationId: migration.id, jobId: job.id, batch: null });
    const counts = await countsOf(sql, migration.id);
    await job.checkpoint({ sql }, { progress: shares[kind][0], counts, checkpoint: next(planned.batches) });
  });
  return next(batches);
}

async function applyBatch(
  applying: Applying,
  at: Extract<ApplyProgress, { stage: 'apply' }>,
): Promise<ApplyProgress> {
  const { job, migration } = applying;
  const { kind, batch, batches } = at;
  if (batch >= batches) return kind === 'cards' ? { stage: 'relations' } : { stage: 'attached', line: 0 };
  const next: ApplyProgress = { ...at, batch: batch + 1 };
  const [from, to] = shares[kind];
  const planned = { ctx: job.ctx, kind, jobId: job.id, batch, dryRun: false };
  await attemptBatch(planned, async (work) => {
    await recordOutcomes(work.sql, kind, { migrationId: migration.id, jobId: job.id, batch });
    await job.checkpoint(work, {
      progress: from + ((to - from) * (batch + 1)) / batches,
      message: `Writing ${kind}: ${batch + 1} of ${batches}`,
      counts: await countsOf(work.sql, migration.id),
      checkpoint: next,
    });
  });
  return next;
}

/** Writes some of the links and comments, whose cards exist by now. */
async function attach({ job, migration }: Applying, line: number): Promise<ApplyProgress> {
  return await command(job.ctx, async (work) => {
    const last = await writeAttached(work, migration.id, line, job.ctx.caller.userId!);
    const next: ApplyProgress = last === line ? { stage: 'end' } : { stage: 'attached', line: last };
    const counts = await countsOf(work.sql, migration.id);
    await job.checkpoint(work, { message: 'Writing links and comments', counts, checkpoint: next });
    return next;
  });
}

async function countsOf(sql: Sql, migrationId: string): Promise<Record<string, number>> {
  const [counts] = await query(sql).rows<
    Record<string, number>
  >`select (count(*) filter (where written))::int as total,
       (count(*) filter (where written and status = 'applied'))::int as applied,
       (count(*) filter (where written and status = 'error'))::int as failed,
       (count(*) filter (where action = 'conflict')
         + coalesce(sum(jsonb_array_length(left_out)), 0))::int as left_out
     from migration_records, lateral (select entity_kind in ('card', 'relation', 'document', 'comment')
       and action in ('create', 'update') as written) w where migration_id = ${migrationId}`;
  return counts!;
}

async function finish({ job, migration }: Applying): Promise<JobResult> {
  const { id } = migration;
  const { userId } = job.ctx.caller;
  return await command(job.ctx, async (work) => {
    const { sql } = work;
    await removeStaged(sql, job.id);
    const stats = await countRecords(sql, id);
    const counts = await countsOf(sql, id);
    const { error } = outcomeOf({ counts });
    if (error) {
      // the migration is shown as failed while its job is, and can be corrected and applied again
      await updateRow(sql, Migration, { id }, { stats, error_message: error.message });
      work.emit(endedEvent('migration.failed', migration, userId, failureOf(error)));
    } else {
      const values = {
        status: 'applied',
        stats,
        applied_at: new Date().toISOString(),
        error_message: null,
      } as const;
      const after = await updateRow(sql, Migration, { id }, values);
      const recipients = recipientsOf(migration, userId);
      work.emit(migrationEvent('migration.applied', migration, after, { counts, recipients }));
    }
    const result: JobResult = {
      message: `${counts.applied} of ${counts.total} records applied, ${counts.failed} failed, ${counts.left_out} left out`,
      counts,
      result: { migration_id: id },
    };
    await job.finish({ sql }, result);
    return result;
  });
}
