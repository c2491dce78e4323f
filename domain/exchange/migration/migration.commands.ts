import { embed, query, type Sql, sqlState } from '../../../platform/database.ts';
import { EstateError, invalidField, invalidFields, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import { type Ctx, checkIfMatch, type Work } from '../../kernel/context.ts';
import { recordFile, type StoredContent } from '../../kernel/files/files.store.ts';
import { enqueueJob } from '../../kernel/jobs/jobs.enqueue.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { deleteRows, findRows, insertRow, lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { checkMappings, mapBlocks, mappingOptions } from './mapping.ts';
import { migrationEvent } from './migration.events.ts';
import {
  type EntityKind,
  type FieldMappings,
  Migration,
  type MigrationRow,
  type MigrationStatus,
  migrationApplyJob,
  migrationStageJob,
  migrationText,
  shownStatus,
} from './migration.list.ts';
import type { SourceType } from './source.types.ts';

/** The properties of an uploaded file. */
export interface MigrationInput {
  source: SourceType;
  name: string;
  fileName: string;
  include_archived: boolean;
}

const mediaTypes: Record<string, string> = {
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  '.csv': 'text/csv',
  '.tsv': 'text/tab-separated-values',
};

/**
 * Creates a migration from an uploaded file, and starts the job that reads it.
 * @throws EstateError `forbidden`, `validation_failed`; `conflict`, with the id of the other migration, if the file was uploaded before.
 */
export async function createMigration(
  ctx: Ctx,
  content: StoredContent,
  { source, name, fileName, include_archived }: MigrationInput,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.migrate');
  if (name.trim() === '') throw invalidField('name', 'required', 'must not be blank');
  try {
    return await command(ctx, async (work) => {
      await recordFile(work.sql, content, {
        name: fileName,
        mediaType:
          mediaTypes[/\.[^.]*$/.exec(fileName)?.[0].toLowerCase() ?? ''] ?? 'application/octet-stream',
        ownerId: ctx.caller.userId,
        withCosts: true,
        needs: [],
        // is deleted with its migration
        expiresAt: null,
      });
      const row = await insertRow(work.sql, Migration, {
        name: name.trim(),
        source_type: source,
        file_id: content.id,
        file_name: fileName,
        file_hash: content.sha256,
        file_size: content.size,
        include_archived,
        created_by: ctx.caller.userId,
      });
      const { job_id } = await enqueueJob(ctx, work, migrationStageJob, { migration_id: row.id });
      const after = await updateRow(work.sql, Migration, { id: row.id }, { job_id });
      work.emit(migrationEvent('migration.uploaded', null, after));
      return await migrationText(work.sql, row.id);
    });
  } catch (error) {
    if (sqlState(error) !== '23505') throw error;
    const [other] = await findRows(ctx.db, Migration, (query) =>
      query.where({ source_type: source, file_hash: content.sha256 }),
    );
    const message = 'The file was uploaded already: continue that migration, or delete it.';
    throw new EstateError('conflict', message, { extra: { migration_id: other?.id ?? null } });
  }
}

/** What the columns of the file can be mapped to, and what they are mapped to. @throws EstateError `forbidden`, `not_found`. */
export async function readMappings(ctx: Ctx, id: string): Promise<ReturnType<typeof mappingOptions>> {
  requirePermission(ctx.caller, 'admin.migrate');
  const [row] = await findRows(ctx.db, Migration, (query) => query.where({ id }));
  if (!row) throw notFound('migration', id);
  return mappingOptions(
    ctx.metamodel,
    mapBlocks(ctx.metamodel, row.source_type, row.blocks, row.field_mappings),
    await ctx.db('tag_groups').orderBy('name').pluck('name'),
  );
}

/**
 * Saves the mapping of the columns of the file, and starts the job that creates its records again.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed` naming each error; `wrong_state`
 * before the file was read, while a job runs, and after it was applied.
 */
export async function saveMappings(ctx: Ctx, id: string, given: FieldMappings): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.migrate');
  return await command(ctx, async (work) => {
    const before = await lockMigration(work, ctx, id);
    const status = await statusOf(work.sql, id);
    if (before.parsed_at === null || !['previewed', 'failed', 'aborted'].includes(status))
      throw wrongState(status);
    const mapped = mapBlocks(work.metamodel, before.source_type, before.blocks, null);
    const defaults = new Map(mapped.map(({ block, target }) => [block.native_type, target]));
    const { mappings, errors } = checkMappings(work.metamodel, before.blocks, given, (name) =>
      defaults.get(name),
    );
    if (errors.length > 0) throw invalidFields(errors);
    const { job_id } = await enqueueJob(ctx, work, migrationStageJob, { migration_id: before.id });
    const reset = { status: 'parsed', previewed_at: null, error_message: null, job_id } as const;
    const after = await updateRow(
      work.sql,
      Migration,
      { id: before.id },
      { ...reset, field_mappings: mappings },
    );
    work.emit(migrationEvent('migration.mapped', before, after));
    return await migrationText(work.sql, id);
  });
}

/**
 * Starts the job that writes a migration into the inventory, with the current rights of the caller.
 * @throws EstateError `forbidden` naming the missing permission, `not_found`, `precondition_failed`,
 * `wrong_state` unless it has a preview.
 */
export async function applyMigration(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.migrate');
  return await command(ctx, async (work) => {
    const before = await lockMigration(work, ctx, id);
    const status = await statusOf(work.sql, id);
    if (before.previewed_at === null || !['previewed', 'failed', 'aborted'].includes(status))
      throw wrongState(status);
    await requireRights(work.sql, ctx, id);
    const { job_id } = await enqueueJob(ctx, work, migrationApplyJob, { migration_id: before.id });
    const after = await updateRow(
      work.sql,
      Migration,
      { id: before.id },
      { status: 'applying', error_message: null, job_id },
    );
    work.emit(migrationEvent('migration.started', before, after));
    return await migrationText(work.sql, id);
  });
}

/** The permissions that applying records of a kind needs, besides `admin.migrate`. */
const permissionsByKind: { [K in EntityKind]?: readonly AppPermission[] } = {
  card: ['inventory.create', 'inventory.edit'],
  relation: ['relations.manage'],
  tag: ['tags.manage'],
  tag_group: ['tags.manage'],
  // stakeholder roles show the costs of their cards
  subscription: ['stakeholders.manage', 'costs.view'],
  document: ['documents.manage'],
  // comments are written under the names of their authors
  comment: ['comments.manage'],
};

/** Checks the permissions needed besides `admin.migrate` by the records of a migration. @throws EstateError `forbidden`. */
export async function requireRights(sql: Sql, ctx: Ctx, id: string): Promise<void> {
  const kinds: string[] = await sql('migration_records')
    .where({ migration_id: id })
    .whereIn('action', ['create', 'update'])
    .distinct()
    .pluck('entity_kind');
  for (const [kind, permissions] of Object.entries(permissionsByKind)) {
    if (kinds.includes(kind)) for (const permission of permissions) requirePermission(ctx.caller, permission);
  }
}

/**
 * Deletes a migration with its file and records. Cards and relations that it has written are unchanged.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `wrong_state` while a job runs.
 */
export async function deleteMigration(ctx: Ctx, id: string): Promise<void> {
  requirePermission(ctx.caller, 'admin.migrate');
  await command(ctx, async (work) => {
    const before = await lockMigration(work, ctx, id);
    const status = await statusOf(work.sql, id);
    if (['uploaded', 'parsed', 'applying'].includes(status)) throw wrongState(status);
    await deleteRows(work.sql, Migration, (query) => query.where({ id: before.id }));
    await work.sql('files').where({ id: before.file_id }).update({ expires_at: new Date() });
    work.emit(migrationEvent('migration.deleted', before, null));
  });
}

async function lockMigration(work: Work, ctx: Ctx, id: string): Promise<MigrationRow> {
  const row = await lockRow(work.sql, Migration, { id: id.toLowerCase() });
  if (!row) throw notFound('migration', id);
  if (ctx.ifMatch) checkIfMatch(ctx, await migrationText(work.sql, id));
  return row;
}

async function statusOf(sql: Sql, id: string): Promise<MigrationStatus> {
  const [migration] = await query(sql).rows<{
    status: MigrationStatus;
  }>`select ${embed(shownStatus)} as status from migrations m left join jobs j on j.id = m.job_id where m.id = ${id}::uuid`;
  return migration!.status;
}

function wrongState(status: MigrationStatus): EstateError {
  return new EstateError('wrong_state', `The migration is ${status}.`, {
    extra: { migration_status: status },
  });
}
