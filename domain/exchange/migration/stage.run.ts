import type { Knex } from 'knex';
import { inTransaction, queryRows } from '../../../platform/database.ts';
import { command } from '../../kernel/command.ts';
import { JobFailed, type JobResult, type RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { findRows, updateRow } from '../../kernel/resources/rows.ts';
import type { Services } from '../../kernel/services.ts';
import { readTagCatalogue } from '../imports/imports.people.ts';
import { removeStaged } from '../imports/imports.staging.ts';
import { nativeTypes } from './mapping.stands.ts';
import { cardTypesOf, mapBlocks } from './mapping.ts';
import { endedEvent } from './migration.events.ts';
import type { MigrationPayload } from './migration.jobs.ts';
import { Migration, type MigrationRow } from './migration.model.ts';
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
  const [row] = await findRows(db, Migration, (query) => query.where({ id: job.payload.migration_id }));
  if (!row) throw new JobFailed('not_found', 'The migration was deleted.');
  return row;
}

/**
 * Reads the file of a migration, unless that is done, and makes its records: what each row is, and what applying it would
 * do. A resumed run makes the records again from the rows that were read.
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
  const [rows] = await queryRows<{ last: number }>(
    db,
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
    nextLine: rows!.last + 1,
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

  await step(0, 'Reading the columns', async (sql) => {
    await removeRecords(sql, migration.id);
    await removeStaged(sql, job.id);
    await tellModel(sql, migration, mapped, nextLine);
  });
  await inSteps<SourceRow>(
    (sql, line) => rowsAfter(sql, migration.id, line),
    (act) => step(0.1, 'Converting rows to cards', act),
    (sql, found) => stageCards(staging, sql, found),
  );
  // without statistics of the new rows the planner would scan all of them for each look-up
  await db.raw('analyze migration_records');
  await inSteps(
    (sql, line) => othersBehind(staging, sql, line, READ),
    (act) => step(0.15, 'Reading attachments of cards', act),
    (sql, found) => stageOthers(staging, sql, found),
  );
  await step(0.18, 'Resolving parents', (sql) => placeChildren(sql, migration.id));
  await inSteps(
    (sql, line) => childrenBehind(sql, migration.id, line, READ),
    (act) => step(0.2, 'Resolving parents', act),
    (sql, found) => findParents(sql, migration.id, found),
  );
  await step(0.25, 'Resolving parents', (sql) => nameParents(sql, migration.id));
  await inSteps(
    (sql, line) => namingBehind(sql, migration.id, line, READ),
    (act) => step(0.3, 'Resolving related cards', act),
    (sql, found) => stageRelations(staging, sql, found),
  );
  await previewCards(job, services, migration.id, (fraction) =>
    job.progress(READ_SHARE + (0.3 + 0.6 * fraction) * (1 - READ_SHARE), 'Previewing cards'),
  );
  let stats: Record<string, unknown> = {};
  await step(0.95, 'Previewing relations', async (sql) => {
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
    await updateRow(
      sql,
      Migration,
      { id: migration.id },
      {
        status: 'previewed',
        stats,
        metamodel_diff: modelDiff(migration, mapped),
        error_message: null,
        previewed_at: new Date().toISOString(),
      },
    );
    work.emit(endedEvent('migration.previewed', migration, job.ctx.caller.userId));
    const result: JobResult = { message: 'Ready for review', result: { migration_id: migration.id } };
    await job.finish({ sql }, result);
    return result;
  });
}

/** Processes items in the order of their lines, some in each transaction. */
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

async function rowsAfter(sql: Knex.Transaction, migrationId: string, line: number): Promise<SourceRow[]> {
  return await queryRows(
    sql,
    `select line, sheet, "row", native_type, cells from migration_rows
     where migration_id = ? and line > ? order by line limit ${READ}`,
    [migrationId, line],
  );
}
