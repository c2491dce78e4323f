import { fragment } from '../../../platform/database.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { References } from '../metamodel/usage/references.ts';

/** Tag groups that are limited to card types. */
export const tagGroupConsumers = defineConsumers<string[] | null>({
  tables: ['tag_groups'],
  rows: () => fragment`select g.id::text, 'tag_group' as kind, g.name, null::uuid as owner_id, null::timestamptz as last_used_at,
      '/api/v1/tag-groups/' || g.id as link, true as is_visible, g.restrict_to_types as content
    from tag_groups g where g.restrict_to_types is not null`,
  references(types, metamodel) {
    const found = new References(metamodel);
    found.type(...(types ?? []));
    return found.all;
  },
});
