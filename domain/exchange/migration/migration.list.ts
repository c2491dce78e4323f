import type { Sql } from '../../../platform/database.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import { itemText } from '../../collaboration/items.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { shownStatus } from './migration.rows.ts';

const migrationList: ListSpec = {
  name: 'migrations',
  from: 'migrations m left join jobs j on j.id = m.job_id',
  id: 'm.id',
  idType: 'uuid',
  sorts: {
    created_at: { sql: 'm.created_at', type: 'timestamptz', immutable: true },
    name: { sql: 'lower(m.name)', type: 'text', filled: true },
    source_type: { sql: 'm.source_type', type: 'text', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  search: 'fold(m.name)',
  members: {
    id: 'm.id',
    name: 'm.name',
    source_type: 'm.source_type',
    status: shownStatus,
    file_name: 'm.file_name',
    file_hash: 'm.file_hash',
    file_size: 'm.file_size',
    include_archived: 'm.include_archived',
    snapshot_version: 'm.snapshot_version',
    stats: 'm.stats',
    metamodel_diff: 'm.metamodel_diff',
    field_mappings: 'm.field_mappings',
    error_message: `case when ${shownStatus} = 'failed' then coalesce(m.error_message, j.error ->> 'message') end`,
    job_id: 'm.job_id',
    created_by: 'm.created_by',
    parsed_at: 'utc(m.parsed_at)',
    applied_at: 'utc(m.applied_at)',
    created_at: 'utc(m.created_at)',
    updated_at: 'utc(m.updated_at)',
  },
};

/** Migrations, newest first. @throws EstateError `forbidden`. */
export async function listMigrations(
  ctx: Ctx,
  params: ListParams & { source_type?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.migrate');
  const where: Condition[] =
    params.source_type === undefined ? [] : [{ sql: 'm.source_type = ?', bindings: [params.source_type] }];
  return await runList(ctx.db, migrationList, where, params, { owner: ctx.caller.userId });
}

/** One migration. @throws EstateError `forbidden`, `not_found`. */
export async function readMigration(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.migrate');
  return await migrationText(ctx.db, id);
}

/** One migration as its JSON text. @throws EstateError `not_found`. */
export async function migrationText(sql: Sql, id: string): Promise<JsonText> {
  const text = await itemText(sql, migrationList, id);
  if (text === undefined) throw notFound('migration', id);
  return text;
}

/** Which records are shown. */
export interface PreviewFilter {
  entity_kind: string;
  card_type_key?: string;
  action?: string;
  /** A page of the contract's kind: instead of `page` and `page_size`. */
  offset?: number;
  limit?: number;
}

/**
 * What a migration holds, in the order of the file; costs show with `costs.view`.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`.
 */
export async function previewMigration(
  ctx: Ctx,
  id: string,
  params: ListParams & PreviewFilter,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'admin.migrate');
  if (!(await ctx.db('migrations').where({ id }).first('id'))) throw notFound('migration', id);
  const where: Condition[] = [
    { sql: 'r.migration_id = ?::uuid', bindings: [id] },
    { sql: 'r.entity_kind = ?', bindings: [params.entity_kind] },
  ];
  for (const column of ['card_type_key', 'action'] as const) {
    if (params[column] !== undefined) where.push({ sql: `r.${column} = ?`, bindings: [params[column]] });
  }
  const paged = pageOf(params);
  const text = await runList(ctx.db, recordList(may(ctx.caller, 'costs.view')), where, paged, {
    owner: ctx.caller.userId,
  });
  if (params.cursor !== undefined) return text;
  const { page, page_size: limit } = paged;
  return `${text.slice(0, -1)},"offset":${(page - 1) * limit},"limit":${limit}}`;
}

function pageOf({ offset, limit, ...params }: ListParams & PreviewFilter): ListParams {
  if (offset === undefined && limit === undefined) return params;
  if (params.cursor !== undefined) {
    throw invalidField(offset === undefined ? 'limit' : 'offset', 'not_offered', 'does not go with a cursor');
  }
  const page_size = limit ?? params.page_size;
  if ((offset ?? 0) % page_size !== 0) {
    throw invalidField('offset', 'bad_offset', `must be a multiple of the limit, ${page_size}`);
  }
  return { ...params, page: (offset ?? 0) / page_size + 1, page_size };
}

const recordList = (seesCosts: boolean): ListSpec => ({
  name: 'migration-records',
  from: 'migration_records r',
  id: 'r.id',
  idType: 'uuid',
  sorts: {
    line: { sql: 'r.line', type: 'numeric', immutable: true },
    display_name: { sql: `lower(coalesce(r.display_name, ''))`, type: 'text', filled: true },
  },
  defaultSort: 'line',
  defaultDir: 'asc',
  search: `fold(coalesce(r.display_name, '') || ' ' || r.source_id)`,
  members: {
    id: 'r.id',
    entity_kind: 'r.entity_kind',
    source_id: 'r.source_id',
    source_type: 'r.source_type',
    card_type_key: 'r.card_type_key',
    action: 'r.action',
    status: 'r.status',
    diff: seesCosts ? 'r.diff' : 'r.diff - r.cost_keys',
    error_message: 'r.error_message',
    target_id: 'r.target_id',
    display_name: 'r.display_name',
    sheet: 'r.sheet',
    row: 'r."row"',
    left_out: `coalesce(r.left_out, '[]')`,
  },
});
