import Type from 'typebox';
import { queryRows, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import { runList } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { Condition, JsonText, ListParams, ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import { TagGroup } from '../../kernel/metamodel/metamodel.model.ts';
import type { StaticOf } from '../../kernel/shapes.ts';
import { Tag } from './tags.model.ts';

const tagJson = `json_build_object(${Object.entries(columnMembers('t', Tag))
  .map(([name, sql]) => `'${name}', ${sql}`)
  .join(', ')})`;

export const tagGroupSorts: Record<string, SortField> = {
  name: { sql: 'lower(g.name)', type: 'text', filled: true },
  created_at: { sql: 'g.created_at', type: 'timestamptz', immutable: true },
};
export const tagGroupFilters = {
  type_key: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'Only those for cards of this type' }),
  ),
};

const groupList: ListSpec = {
  name: 'tag-groups',
  from: 'tag_groups g',
  id: 'g.id',
  idType: 'uuid',
  sorts: tagGroupSorts,
  defaultSort: 'name',
  defaultDir: 'asc',
  search: 'fold(g.name)',
  members: {
    ...columnMembers('g', TagGroup),
    tags: `(select coalesce(json_agg(${tagJson} order by t.sort_order, lower(t.name), t.id), '[]')
            from tags t where t.tag_group_id = g.id)`,
  },
};

/** Tag groups with their tags; with `type_key` those that cards of the type may have. */
export async function listTagGroups(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof tagGroupFilters>,
): Promise<JsonText> {
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
  const [group] = await queryRows<{ item: JsonText }>(
    sql,
    `select ${item.sql}::text as item from tag_groups g where g.id = ?`,
    [...item.bindings, id],
  );
  if (!group) throw notFound('tag group', id);
  return group.item;
}

/** One tag of a group. @throws EstateError `not_found`. */
export async function readTag(sql: Sql, groupId: string, id: string): Promise<JsonText> {
  const [tag] = await queryRows<{ item: JsonText }>(
    sql,
    `select ${tagJson}::text as item from tags t where t.tag_group_id = ? and t.id = ?`,
    [groupId, id],
  );
  if (!tag) throw notFound('tag', id);
  return tag.item;
}
