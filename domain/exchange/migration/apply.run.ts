import { inTransaction, query } from '../../../platform/database.ts';
import { createMissingTags, type WantedTag } from '../../inventory/tags/tags.commands.ts';
import { command } from '../../kernel/command.ts';
import { outcomeOf } from '../../kernel/jobs/jobs.lease.ts';
import { type JobResult, type RunningJob, retryWhileBusy } from '../../kernel/jobs/jobs.running.ts';
import { updateRow } from '../../kernel/resources/rows.ts';
import type { Services } from '../../kernel/services.ts';
import type { InventoryKind } from '../imports/imports.row.ts';
import { removeStaged } from '../imports/imports.staged.clean.ts';
import { writeAttached } from './apply.attached.ts';
import { requireRights } from './migration.commands.ts';
import { endedEvent, failureOf, migrationEvent, recipientsOf } from './migration.events.ts';
import { defaultTuning, importRecords, type RecordImport } from './migration.import.ts';
import { Migration, type MigrationPayload, type MigrationRow } from './migration.list.ts';
import { migrationOf } from './stage.run.ts';
import { countRecords } from './staging.ts';

/** The checkpoint of applying a migration. The statuses of records determine where a later run continues. */
type ApplyProgress =
  | { stage: 'tags' }
  | { stage: 'apply'; kind: InventoryKind; batch?: number }
  | { stage: 'attached'; line: number };

/** The approximate shares of the time at which writing cards and relations begins and ends. */
const shares = { cards: [0.1, 0.6], relations: [0.65, 0.98] } as const;

interface Applying {
  job: RunningJob<MigrationPayload>;
  services: Services;
  migration: MigrationRow;
}

/**
 * Writes a migration into the inventory: missing tags, cards with their tags and stakeholders, relations, and last links
 * and comments. Cards and relations are written by the stages of an import. A resumed run continues with the records that
 * are pending.
 */
export async function runApply(
  job: RunningJob<MigrationPayload>,
  services: Services,
  tuning = defaultTuning,
): Promise<JobResult> {
  const { db } = services;
  const migration = await migrationOf(job, services);
  const { id } = migration;
  await requireRights(db, job.ctx, id);
  job.ctx.batch.rowCount = (await countRecords(db, id)).counts.total!;
  const applying = { job, services, migration };
  if (job.resume === null) await begin(applying);
  const advance: RecordImport['advance'] = async (work, kind, share, batch) => {
    const [from, to] = shares[kind];
    await job.checkpoint(work, {
      progress: from + (to - from) * share,
      message: `Writing ${kind}`,
      ...(batch !== undefined && { counts: (await countRecords(work.sql, id)).counts }),
      checkpoint: { stage: 'apply', kind, batch } satisfies ApplyProgress,
    });
  };
  for (const kind of ['cards', 'relations'] as const) {
    await importRecords({ job, db, migrationId: id, dryRun: false, tuning, advance }, kind);
  }
  for (let line: number | undefined = 0; line !== undefined; ) line = await attach(applying, line);
  return await finish(applying);
}

/** Writes missing tags, and lets records be written again that failed in an earlier job. */
async function begin({ job, services: { db }, migration: { id } }: Applying): Promise<void> {
  const wanted: WantedTag[] = await db('migration_records')
    .where({ migration_id: id, entity_kind: 'tag', action: 'create' })
    .orderBy('line')
    .pluck('payload');
  // in one transaction, which excludes all other writes; tags of an earlier attempt exist
  const create = () => createMissingTags(job.ctx, wanted, (work) => job.lock(work));
  if (wanted.length > 0) await retryWhileBusy(job.signal, create, 'metamodel_busy');
  await inTransaction(db, async (sql) => {
    await query(sql).run`update migration_records
      set status = case when entity_kind in ('tag', 'tag_group') then 'applied' else 'pending' end,
        error_message = null
      where migration_id = ${id} and action in ('create', 'update')
        and (status = 'error' or entity_kind in ('tag', 'tag_group'))`;
    const checkpoint: ApplyProgress = { stage: 'tags' };
    await job.checkpoint({ sql }, { progress: 0.02, message: 'Writing', checkpoint });
  });
}

/** Writes some of the links and comments, whose cards exist by now. @returns their last line; undefined if there are none. */
async function attach({ job, migration }: Applying, after: number): Promise<number | undefined> {
  job.signal.throwIfAborted();
  return await command(job.ctx, async (work) => {
    const line = await writeAttached(work, migration.id, after, job.ctx.caller.userId!);
    const checkpoint: ApplyProgress = { stage: 'attached', line: line ?? after };
    const { counts } = await countRecords(work.sql, migration.id);
    await job.checkpoint(work, { message: 'Writing links and comments', counts, checkpoint });
    return line;
  });
}

async function finish({ job, migration }: Applying): Promise<JobResult> {
  const { id } = migration;
  const { userId } = job.ctx.caller;
  return await command(job.ctx, async (work) => {
    const { sql } = work;
    await removeStaged(sql, job.id);
    const { stats, counts } = await countRecords(sql, id);
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
