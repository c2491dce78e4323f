import { embed, query, type Sql, sqlState } from '../../../platform/database.ts';
import { EstateError, invalidField, invalidFields, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { recordFile, type StoredContent } from '../../kernel/files/files.store.ts';
import { enqueueJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { AppPermission } from '../../kernel/permissions/permissions.data.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { lockItem } from '../../kernel/resources/items.ts';
import { deleteRows, findRows, insertRow, updateRow } from '../../kernel/resources/rows.ts';
import { XLSX } from '../../kernel/transfer/xlsx.read.ts';
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

/** A kind of file that can be migrated from. */
interface MigrationSource {
  key: SourceType;
  label: string;
  /** Of the file's name, with the dot. */
  accepted_extensions: string[];
}

/** The supported sources. */
const sources: readonly MigrationSource[] = [
  { key: 'leanix', label: 'LeanIX snapshot', accepted_extensions: ['.xlsx'] },
  { key: 'sheet', label: 'Workbook or table', accepted_extensions: ['.xlsx', '.csv', '.tsv'] },
];

/** The supported sources as a list. */
export const sourceList = defineList({
  name: 'migration-sources',
  permission: 'admin.migrate',
  from: `jsonb_to_recordset('${JSON.stringify(sources)}'::jsonb) as s(key text, label text, accepted_extensions jsonb)`,
  id: 's.key',
  idType: 'text',
  sorts: {
    key: { sql: 's.key', type: 'text', filled: true, immutable: true },
    label: { sql: 'lower(s.label)', type: 'text', filled: true, immutable: true },
  },
  defaultSort: 'key',
  search: 'fold(s.label)',
  members: { key: 's.key', label: 's.label', accepted_extensions: 's.accepted_extensions' },
});

/** The source with the key. @throws EstateError `validation_failed` naming `source_key`. */
export function requireSource(key: string): MigrationSource {
  const source = sources.find((one) => one.key === key);
  if (source) return source;
  const known = sources.map((one) => one.key).join(', ');
  throw invalidField('source_key', 'unknown_source', `is none of ${known}`);
}

/** The extension of a file's name, which the source must support. @throws EstateError `unsupported_media_type`. */
export function requireExtension(source: MigrationSource, fileName: string): string {
  const ending = /\.[a-z0-9]+$/i.exec(fileName)?.[0].toLowerCase();
  if (ending !== undefined && source.accepted_extensions.includes(ending)) return ending;
  const detail = `${source.label}: the file's name ends in one of ${source.accepted_extensions.join(', ')}.`;
  throw new EstateError('unsupported_media_type', detail);
}

/** The properties of an uploaded file. */
export interface MigrationInput {
  source: SourceType;
  name: string;
  fileName: string;
  include_archived: boolean;
}

const mediaTypes: Record<string, string> = {
  '.xlsx': XLSX,
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
  const mapped = mapBlocks(ctx.metamodel, row.source_type, row.blocks, row.field_mappings);
  return mappingOptions(ctx.metamodel, mapped, await ctx.db('tag_groups').orderBy('name').pluck('name'));
}

/**
 * Saves the mapping of the columns of the file, and starts the job that creates its records again.
 * @throws EstateError `forbidden`, `not_found`, `precondition_failed`, `validation_failed` naming each error; `wrong_state`
 * before the file was read, while a job runs, and after it was applied.
 */
export async function saveMappings(ctx: Ctx, id: string, given: FieldMappings): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.migrate');
  return await command(ctx, async (work) => {
    const before = await lockMigration(work, ctx, id, (row, isIdle) => isIdle && row.parsed_at !== null);
    const mapped = mapBlocks(work.metamodel, before.source_type, before.blocks, null);
    const defaults = new Map(mapped.map(({ block, target }) => [block.native_type, target]));
    const { mappings, errors } = checkMappings(work.metamodel, before.blocks, given, (name) =>
      defaults.get(name),
    );
    if (errors.length > 0) throw invalidFields(errors);
    const { job_id } = await enqueueJob(ctx, work, migrationStageJob, { migration_id: before.id });
    const reset = { status: 'parsed', previewed_at: null, error_message: null, job_id } as const;
    const values = { ...reset, field_mappings: mappings };
    const after = await updateRow(work.sql, Migration, { id: before.id }, values);
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
    const before = await lockMigration(work, ctx, id, (row, isIdle) => isIdle && row.previewed_at !== null);
    await requireRights(work.sql, ctx, id);
    const { job_id } = await enqueueJob(ctx, work, migrationApplyJob, { migration_id: before.id });
    const values = { status: 'applying', error_message: null, job_id } as const;
    const after = await updateRow(work.sql, Migration, { id: before.id }, values);
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
    const before = await lockMigration(work, ctx, id, (row, isIdle) => isIdle || row.status === 'applied');
    await deleteRows(work.sql, Migration, (query) => query.where({ id: before.id }));
    await work.sql('files').where({ id: before.file_id }).update({ expires_at: new Date() });
    work.emit(migrationEvent('migration.deleted', before, null));
  });
}

/** Locks a migration in a state that a condition allows; it is idle if no job runs and it is not applied. */
async function lockMigration(
  work: Work,
  ctx: Ctx,
  id: string,
  allows: (row: MigrationRow, isIdle: boolean) => boolean,
): Promise<MigrationRow> {
  const { sql } = work;
  const row = await lockItem(work, ctx, Migration, { id }, 'migration', (of) => migrationText(sql, of));
  const status: MigrationStatus = await query(sql).value`select ${embed(shownStatus)}
    from migrations m left join jobs j on j.id = m.job_id where m.id = ${row.id}`;
  if (allows(row, ['previewed', 'failed', 'aborted'].includes(status))) return row;
  throw new EstateError('wrong_state', `The migration is ${status}.`, {
    extra: { migration_status: status },
  });
}
