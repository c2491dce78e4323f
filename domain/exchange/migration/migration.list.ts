import Type, { type Static } from 'typebox';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { type FieldError, invalidField, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { defineJob } from '../../kernel/jobs/jobs.define.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { type RowOf, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
import {
  Choice,
  IntegerIn,
  keyed,
  Nullable,
  OpenObject,
  OptionalText,
  object,
  type StaticOf,
  TextUpTo,
  Timestamp,
  Uuid,
} from '../../kernel/shapes.ts';
import { csvText } from '../../kernel/transfer/csv-cells.ts';
import { type SourceBlock, sourceTypes } from './source.types.ts';

const payload = object({ migration_id: Type.String({ format: 'uuid' }) });

/** Which migration a job works on. */
export type MigrationPayload = Static<typeof payload>;

/** Why a job of a migration must not run again; null if it may. */
async function whyNotContinue(sql: Sql, id: string, jobId: string): Promise<string | null> {
  const row = await sql('migrations').where({ id }).first('job_id', 'status');
  if (!row) return 'The migration was deleted.';
  if (row.job_id === jobId && ['uploaded', 'parsed', 'applying'].includes(row.status)) return null;
  return 'Another job has continued the migration.';
}

const defineMigrationJob = (kind: 'migration_stage' | 'migration_apply') =>
  defineJob({
    kind,
    queue: 'bulk',
    payload,
    attempts: 3,
    resumable: true,
    whyNotAgain: (sql, { id, payload: { migration_id } }) => whyNotContinue(sql, migration_id, id),
  });

/** Reads the file of a migration, unless that is done, and creates its records. */
export const migrationStageJob = defineMigrationJob('migration_stage');

/** Writes a migration into the inventory. */
export const migrationApplyJob = defineMigrationJob('migration_apply');

const Text = Nullable(Type.String());
const Count = Type.Integer({ minimum: 0 });

/** Targets by column, by native type. */
export const FieldMappings = Type.Record(
  Type.String({ maxLength: 200 }),
  keyed(220, Type.String({ maxLength: 250 })),
  {
    description:
      'By native type in the file: targets by column. `$type` is the card type, or another kind of row; an empty text leaves out a column, or all rows of the type.',
    examples: [{ Application: { $type: 'Application', Owner: 'attributes.owner' } }],
  },
);
export type FieldMappings = Static<typeof FieldMappings>;

/** The stored statuses; `failed` and `aborted` follow from the status of the job. */
const storedStatuses = ['uploaded', 'parsed', 'previewed', 'applying', 'applied'] as const;
export const migrationStatuses = [...storedStatuses, 'failed', 'aborted'] as const;
export type MigrationStatus = (typeof migrationStatuses)[number];

export class Migration extends rowModel('migrations', {
  id: Uuid,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  source_type: Choice(sourceTypes),
  status: Choice(storedStatuses),
  file_id: Uuid,
  file_name: Type.String(),
  file_hash: Type.String(),
  file_size: Count,
  include_archived: Type.Boolean(),
  snapshot_version: Text,
  blocks: Type.Unsafe<SourceBlock[]>(Type.Array(OpenObject)),
  stats: Nullable(OpenObject),
  metamodel_diff: Nullable(OpenObject),
  field_mappings: Nullable(FieldMappings),
  error_message: Text,
  job_id: Nullable(Uuid),
  created_by: Nullable(Uuid),
  parsed_at: Nullable(Timestamp),
  previewed_at: Nullable(Timestamp),
  applied_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type MigrationRow = RowOf<typeof Migration>;

/** Kinds of records, in the order in which they are applied. */
const entityKinds = [
  'metamodel_type',
  'metamodel_field',
  'metamodel_relation_type',
  'user',
  'tag_group',
  'tag',
  'card',
  'relation',
  'subscription',
  'document',
  'comment',
  'card_tag',
] as const;

export type EntityKind = (typeof entityKinds)[number];

/** What applying a record would do. */
const recordActions = ['create', 'update', 'skip', 'conflict'] as const;

/** A record that a migration would write, or has written. */
export class MigrationRecord extends rowModel('migration_records', {
  migration_id: Uuid,
  line: Type.Integer(),
  id: Uuid,
  entity_kind: Choice(entityKinds),
  source_id: Type.String(),
  source_type: Type.String(),
  card_type_key: Text,
  display_name: Text,
  action: Choice(recordActions),
  status: Choice(['pending', 'applied', 'error']),
  diff: Nullable(Type.Unsafe<Record<string, { old: unknown; new: unknown }>>(OpenObject)),
  cost_keys: SqlArray(Type.String()),
  error_message: Text,
  target_id: Nullable(Uuid),
  sheet: Text,
  row: Nullable(Count),
  left_out: Nullable(Type.Unsafe<FieldError[]>(Type.Array(OpenObject))),
  payload: Nullable(OpenObject),
  refs: Nullable(Type.Unsafe<object>(OpenObject)),
  path: Text,
  relation_type: Text,
  source_line: Nullable(Type.Integer()),
  source_card: Nullable(Uuid),
  target_line: Nullable(Type.Integer()),
  target_card: Nullable(Uuid),
}) {}
export type MigrationRecordRow = RowOf<typeof MigrationRecord>;

/** The status of the migration `m`, which its job `j` may have failed or cancelled. */
export const shownStatus = `case when m.status in ('uploaded', 'parsed', 'applying')
    and coalesce(j.status, 'cancelled') in ('failed', 'cancelled')
  then case j.status when 'failed' then 'failed' else 'aborted' end else m.status end`;

/** The columns of migrations that are shown. */
export const { properties: migrationColumns } = Type.Omit(Type.Object(Migration.columns), [
  'file_id',
  'blocks',
  'previewed_at',
]);

/** Migrations, newest first. */
export const migrationList = defineList({
  name: 'migrations',
  permission: 'admin.migrate',
  from: 'migrations m left join jobs j on j.id = m.job_id',
  id: 'm.id',
  sorts: {
    created_at: { sql: 'm.created_at', type: 'timestamptz', immutable: true },
    name: { sql: 'lower(m.name)', type: 'text', filled: true },
    source_type: { sql: 'm.source_type', type: 'text', filled: true },
  },
  defaultSort: 'created_at',
  defaultDir: 'desc',
  filters: {
    source_type: [TextUpTo(100, 'Only those from this source'), 'm.source_type = ?'],
  },
  search: 'fold(m.name)',
  members: {
    ...columnMembers('m', { columns: migrationColumns }),
    status: shownStatus,
    error_message: `case when ${shownStatus} = 'failed' then coalesce(m.error_message, j.error ->> 'message') end`,
  },
});

/** One migration as its JSON text. @throws EstateError `not_found`. */
export async function migrationText(sql: Sql, id: string): Promise<JsonText> {
  return await readItem(sql, migrationList, 'migration', id);
}

export const recordFilters = {
  entity_kind: Type.Unsafe<EntityKind>({
    ...Choice(entityKinds, 'Which kind of record'),
    default: 'card',
  }),
  card_type_key: OptionalText(100, 'Only those of this card type'),
  action: Type.Optional(Choice(recordActions, 'Only those with this outcome')),
};
/** Pages by offset, instead of `page` and `page_size`. */
export const offsetPage = {
  offset: Type.Optional(IntegerIn(0, 1_000_000_000, 'A multiple of the limit; instead of `page`')),
  limit: Type.Optional(IntegerIn(1, 200, 'Instead of `page_size`')),
};
type PreviewFilter = StaticOf<typeof recordFilters> & StaticOf<typeof offsetPage>;

/**
 * The records of a migration, in the order of the file; costs show with `costs.view`.
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
    fragment`r.migration_id = ${id}::uuid`,
    fragment`r.entity_kind = ${params.entity_kind}`,
  ];
  for (const column of ['card_type_key', 'action'] as const) {
    if (params[column] !== undefined) where.push(fragment`r.${embed(column)} = ${params[column]}`);
  }
  const paged = pageOf(params);
  const text = await runList(ctx, recordList(may(ctx.caller, 'costs.view')), where, paged);
  if (params.cursor !== undefined) return text;
  const { page, page_size: limit } = paged;
  return `${text.slice(0, -1)},"offset":${(page - 1) * limit},"limit":${limit}}`;
}

function pageOf({ offset, limit, ...params }: ListParams & PreviewFilter): ListParams {
  if (offset === undefined && limit === undefined) return params;
  if (params.cursor !== undefined) {
    throw invalidField(
      offset === undefined ? 'limit' : 'offset',
      'not_offered',
      'cannot be combined with a cursor',
    );
  }
  const page_size = limit ?? params.page_size;
  if ((offset ?? 0) % page_size !== 0) {
    throw invalidField('offset', 'bad_offset', `must be a multiple of the limit, ${page_size}`);
  }
  return { ...params, page: (offset ?? 0) / page_size + 1, page_size };
}

/** The columns of records that are shown. */
export const { properties: recordColumns } = Type.Omit(Type.Object(MigrationRecord.columns), [
  'migration_id',
  'line',
  'cost_keys',
  'payload',
  'refs',
  'path',
  'relation_type',
  'source_line',
  'source_card',
  'target_line',
  'target_card',
]);

export const recordSorts: Record<string, SortField> = {
  line: { sql: 'r.line', type: 'numeric', immutable: true },
  display_name: { sql: `lower(coalesce(r.display_name, ''))`, type: 'text', filled: true },
};

const recordList = (seesCosts: boolean): ListSpec => ({
  name: 'migration-records',
  from: 'migration_records r',
  id: 'r.id',
  sorts: recordSorts,
  defaultSort: 'line',
  search: `fold(coalesce(r.display_name, '') || ' ' || r.source_id)`,
  members: {
    ...columnMembers('r', { columns: recordColumns }),
    diff: seesCosts ? 'r.diff' : 'r.diff - r.cost_keys',
    left_out: `coalesce(r.left_out, '[]')`,
  },
});

const PAGE = 2_000;
const columns = [
  'sheet',
  'row',
  'entity_kind',
  'source_type',
  'source_id',
  'name',
  'column',
  'reason',
] as const;
const lineOf = (cells: readonly (string | number | null)[]): string =>
  `${cells.map((cell) => csvText(String(cell ?? ''), true)).join(',')}\r\n`;

/**
 * What a migration could not import, as CSV in the order of its records: conflicts, failed records, and values that
 * were left out. @throws EstateError `forbidden`, `not_found`.
 */
export async function errorLines(ctx: Ctx, id: string): Promise<AsyncGenerator<string>> {
  requirePermission(ctx.caller, 'admin.migrate');
  if (!(await ctx.db('migrations').where({ id }).first('id'))) throw notFound('migration', id);
  return lines(ctx, id);
}

async function* lines(ctx: Ctx, id: string): AsyncGenerator<string> {
  yield lineOf(columns);
  for (let line = 0; ; ) {
    const rows = await query(ctx.db)
      .rows`select r.line, r.sheet, r."row", r.entity_kind, r.source_type, r.source_id,
         r.display_name as name, e."column", e.reason
       from (
         select * from migration_records where migration_id = ${id} and line > ${line}
           and (action = 'conflict' or status = 'error' or left_out is not null)
         order by line limit ${embed(PAGE)}
       ) r cross join lateral (
         select 0::bigint as at, null::text as "column", coalesce(r.error_message, 'failed') as reason
         where r.action = 'conflict' or r.status = 'error'
         union all
         select v.at, v.value ->> 'field', 'left out: ' || (v.value ->> 'message')
         from jsonb_array_elements(r.left_out) with ordinality as v(value, at)
       ) e order by r.line, e.at`;
    if (rows.length === 0) return;
    yield rows.map((row) => lineOf(columns.map((column) => row[column]))).join('');
    line = rows.at(-1).line;
  }
}
