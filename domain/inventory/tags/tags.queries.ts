import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';

const tagMembers = `'id', t.id, 'name', t.name, 'description', t.description, 'color', t.color,
  'sort_order', t.sort_order, 'tag_group_id', t.tag_group_id`;

const groupList: ListSpec = {
  name: 'tag-groups',
  from: 'tag_groups g',
  id: 'g.id',
  idType: 'uuid',
  sorts: {
    name: { sql: 'lower(g.name)', type: 'text', filled: true },
    created_at: { sql: 'g.created_at', type: 'timestamptz', immutable: true },
  },
  defaultSort: 'name',
  defaultDir: 'asc',
  search: 'fold(g.name)',
  members: {
    id: 'g.id',
    name: 'g.name',
    description: 'g.description',
    mode: 'g.mode',
    mandatory: 'g.mandatory',
    restrict_to_types: 'g.restrict_to_types',
    tags: `(select coalesce(json_agg(json_build_object(${tagMembers}) order by t.sort_order, lower(t.name), t.id), '[]')
            from tags t where t.tag_group_id = g.id)`,
    created_at: 'utc(g.created_at)',
    updated_at: 'utc(g.updated_at)',
  },
};

/** Tag groups with their tags; with `type_key` those that cards of the type may have. */
export async function listTagGroups(ctx: Ctx, params: ListParams & { type_key?: string }): Promise<JsonText> {
  const where: Condition[] = params.type_key
    ? [
        {
          sql: '(g.restrict_to_types is null or jsonb_exists(g.restrict_to_types, ?))',
          bindings: [params.type_key],
        },
      ]
    : [];
  return await runList(ctx.db, groupList, where, params, { owner: ctx.caller.userId });
}

/** One tag group with its tags. @throws EstateError `not_found`. */
export async function readTagGroup(sql: Sql, id: string): Promise<JsonText> {
  const item = projection(groupList.members, undefined);
  const { rows } = await sql.raw(`select ${item.sql}::text as item from tag_groups g where g.id = ?`, [
    ...item.bindings,
    id,
  ] as never);
  if (!rows[0]) throw notFound('tag group', id);
  return rows[0].item;
}

/** One tag of a group. @throws EstateError `not_found`. */
export async function readTag(sql: Sql, groupId: string, id: string): Promise<JsonText> {
  const { rows } = await sql.raw(
    `select json_build_object(${tagMembers})::text as item from tags t where t.tag_group_id = ? and t.id = ?`,
    [groupId, id],
  );
  if (!rows[0]) throw notFound('tag', id);
  return rows[0].item;
}
