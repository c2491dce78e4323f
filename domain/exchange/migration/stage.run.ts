import type { Knex } from 'knex';
import { inTransaction } from '../../../platform/database.ts';
import { command } from '../../kernel/command.ts';
import { JobFailed, type JobResult, type RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import { readTagCatalogue } from '../imports/imports.people.ts';
import { removeStaged } from '../imports/imports.staging.ts';
import { nativeTypes } from './mapping.stands.ts';
import { cardTypesOf, mapBlocks } from './mapping.ts';
import { endedEvent } from './migration.ended.ts';
import type { MigrationPayload } from './migration.jobs.ts';
import type { MigrationRow } from './migration.rows.ts';
import { parseFile, READ_SHARE } from './parse.run.ts';
import { removeRecords } from './records.ts';
import type { SourceRow } from './source.types.ts';
import { judgeAttached } from './stage.attached.ts';
import { stageCards } from './stage.cards.ts';
import { noteRelationDiffs } from './stage.diffs.ts';
import { othersBehind, stageOthers } from './stage.others.ts';
import { childrenBehind, findParents, nameParents, placeChildren } from './stage.parents.ts';
import { previewCards } from './stage.preview.ts';
import { judgeRelations, namingBehind, stageRelations } from './stage.relations.ts';
import { countRecords, modelDiff, tellLeftOut, tellModel } from './stage.told.ts';
import type { Staging } from './stage.types.ts';

const READ = 500;

/** The migration of a job. @throws JobFailed when it was deleted. */
export async function migrationOf(
  job: RunningJob<MigrationPayload>,
  { db }: Services,
): Promise<MigrationRow> {
  const { rows } = await db.raw('select to_jsonb(m) as row from migrations m where id = ?', [
    job.payload.migration_id,
  ]);
  if (!rows[0]) throw new JobFailed('not_found', 'The migration was deleted.');
  return rows[0].row;
}

/**
 * Reads the file of a migration, where that was not done yet, and makes its records: what each row stands for, and what
 * would become of it. A run that was broken off makes the records anew, from the rows that were read.
 */
export async function runStaging(job: RunningJob<MigrationPayload>, services: Services): Promise<JobResult> {
  const { db } = services;
  let migration = await migrationOf(job, services);
  if (migration.parsed_at === null) {
    await parseFile(job, services, migration);
    migration = await migrationOf(job, services);
  }
  const mapped = mapBlocks(
    job.ctx.metamodel,
    migration.source_type,
    migration.blocks,
    migration.field_mappings,
  );
  const { rows } = await db.raw(
    'select coalesce(max(line), 0) as last from migration_rows where migration_id = ?',
    [migration.id],
  );
  const staging: Staging = {
    ctx: job.ctx,
    migrationId: migration.id,
    includeArchived: migration.include_archived,
    mapped: new Map(mapped.map((one) => [one.block.native_type, one])),
    source: migration.source_type,
    typeOf: nativeTypes(
      job.ctx.metamodel,
      cardTypesOf(job.ctx.metamodel, migration.blocks, migration.field_mappings),
    ),
    firstRows: new Map(),
    catalogue: await readTagCatalogue(db),
    nextLine: rows[0].last + 1,
    told: new Set(),
    telling: new Set(),
  };
  const nextLine = () => {
    staging.nextLine += 1;
    return staging.nextLine - 1;
  };
  const step = async (share: number, message: string, act: (sql: Knex.Transaction) => Promise<void>) => {
    job.signal.throwIfAborted();
    await inTransaction(db, async (sql) => {
      staging.telling.clear();
      await act(sql);
      await job.checkpoint({ sql }, { progress: READ_SHARE + share * (1 - READ_SHARE), message });
    });
    for (const key of staging.telling) staging.told.add(key);
  };

  await step(0, 'Looking at the columns', async (sql) => {
    await removeRecords(sql, migration.id);
    await removeStaged(sql, job.id);
    await tellModel(sql, migration, mapped, nextLine);
  });
  await inSteps<SourceRow>(
    (sql, line) => rowsBehind(sql, migration.id, line),
    (act) => step(0.1, 'Making cards of rows', act),
    (sql, found) => stageCards(staging, sql, found),
  );
  // the planner knows nothing yet of what has just been written, and would read all of it for each look-up
  await db.raw('analyze migration_records');
  await inSteps(
    (sql, line) => othersBehind(staging, sql, line, READ),
    (act) => step(0.15, 'Looking at what hangs on cards', act),
    (sql, found) => stageOthers(staging, sql, found),
  );
  await step(0.18, 'Looking for parents', (sql) => placeChildren(sql, migration.id));
  await inSteps(
    (sql, line) => childrenBehind(sql, migration.id, line, READ),
    (act) => step(0.2, 'Looking for parents', act),
    (sql, found) => findParents(sql, migration.id, found),
  );
  await step(0.25, 'Looking for parents', (sql) => nameParents(sql, migration.id));
  await inSteps(
    (sql, line) => namingBehind(sql, migration.id, line, READ),
    (act) => step(0.3, 'Looking for related cards', act),
    (sql, found) => stageRelations(staging, sql, found),
  );
  await previewCards(job, services, migration.id, (fraction) =>
    job.progress(READ_SHARE + (0.3 + 0.6 * fraction) * (1 - READ_SHARE), 'Trying the cards'),
  );
  let stats: Record<string, unknown> = {};
  await step(0.95, 'Looking at relations', async (sql) => {
    await judgeRelations(sql, migration.id, job.ctx.metamodel);
    await judgeAttached(sql, migration.id);
  });
  await noteRelationDiffs(job, db, migration.id);
  await step(0.98, 'Counting', async (sql) => {
    await tellLeftOut(sql, migration.id, nextLine);
    stats = await countRecords(sql, migration.id);
  });
  return await command(job.ctx, async (work) => {
    const { sql } = work;
    await removeStaged(sql, job.id);
    await sql('migrations')
      .where({ id: migration.id })
      .update({
        status: 'previewed',
        stats: JSON.stringify(stats),
        metamodel_diff: JSON.stringify(modelDiff(migration, mapped)),
        error_message: null,
        previewed_at: sql.fn.now(),
        updated_at: sql.fn.now(),
      });
    work.emit(endedEvent('migration.previewed', migration, job.ctx.caller.userId));
    const result: JobResult = { message: 'Ready to be looked at', result: { migration_id: migration.id } };
    await job.finish({ sql }, result);
    return result;
  });
}

/** Goes through things in the order of their lines, some in a transaction each. */
async function inSteps<T extends { line: number }>(
  read: (sql: Knex.Transaction, line: number) => Promise<T[]>,
  step: (act: (sql: Knex.Transaction) => Promise<void>) => Promise<void>,
  act: (sql: Knex.Transaction, found: T[]) => Promise<void>,
): Promise<void> {
  for (let line = 0, more = true; more; ) {
    await step(async (sql) => {
      const found = await read(sql, line);
      more = found.length > 0;
      if (!more) return;
      await act(sql, found);
      line = found.at(-1)!.line;
    });
  }
}

async function rowsBehind(sql: Knex.Transaction, migrationId: string, line: number): Promise<SourceRow[]> {
  const { rows } = await sql.raw(
    `select line, sheet, "row", native_type, cells from migration_rows
     where migration_id = ? and line > ? order by line limit ${READ}`,
    [migrationId, line],
  );
  return rows;
}
