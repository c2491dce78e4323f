import Type from 'typebox';
import { fragment, type Sql } from '../../../platform/database.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../../kernel/lists/lists.run.ts';
import { projection } from '../../kernel/lists/lists.sql.ts';
import type { ItemSpec, JsonText } from '../../kernel/lists/lists.types.ts';
import { TagGroup } from '../../kernel/metamodel/metamodel.model.ts';
import { Tag } from './tags.model.ts';

const tagItem: ItemSpec = { from: 'tags t', id: 't.id', members: columnMembers('t', Tag) };

/** Tag groups with their tags; with `type_key` only those that cards of the type may have. */
export const groupList = defineList({
  name: 'tag-groups',
  from: 'tag_groups g',
  id: 'g.id',
  sorts: {
    name: { sql: 'lower(g.name)', type: 'text', filled: true },
    ...columnSorts('g', TagGroup, 'created_at'),
  },
  filters: {
    type_key: [
      Type.String({ minLength: 1, maxLength: 100, description: 'Only those for cards of this type' }),
      '(g.restrict_to_types is null or jsonb_exists(g.restrict_to_types, ?))',
    ],
  },
  defaultSort: 'name',
  search: 'fold(g.name)',
  members: {
    ...columnMembers('g', TagGroup),
    tags: `(select coalesce(json_agg(${projection(tagItem.members).sql} order by t.sort_order, lower(t.name), t.id), '[]')
            from tags t where t.tag_group_id = g.id)`,
  },
});

/** One tag group with its tags. @throws EstateError `not_found`. */
export const readTagGroup = (sql: Sql, id: string): Promise<JsonText> =>
  readItem(sql, groupList, 'tag group', id);

/** One tag of a group. @throws EstateError `not_found`. */
export const readTag = (sql: Sql, groupId: string, id: string): Promise<JsonText> =>
  readItem(sql, tagItem, 'tag', id, [fragment`t.tag_group_id = ${groupId}`]);
