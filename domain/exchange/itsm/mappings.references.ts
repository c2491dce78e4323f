import { embed, fragment } from '../../../platform/database.ts';
import { References } from '../../inventory/metamodel/usage/references.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { VIEW_SYNC } from './connections.queries.ts';
import { rowsOfMapping } from './itsm.load.ts';
import { parseRelationPath } from './mappings.rules.ts';
import type { FieldMapping, Mapping } from './mappings.types.ts';

/** Mappings of card types to tables of remotes. */
export const mappingConsumers = defineConsumers<
  Pick<Mapping, 'card_type_key' | 'card_filter' | 'card_defaults'> & {
    fields: FieldMapping[] | null;
    relations: Mapping['relations'] | null;
  }
>({
  tables: ['itsm_mappings', 'itsm_field_mappings', 'itsm_relation_mappings'],
  rows: ({
    caller,
  }) => fragment`select m.id::text, 'itsm_mapping' as kind, c.name || ': ' || m.remote_table as name,
      m.created_by as owner_id,
      (select max(r.completed_at) from itsm_runs r where r.mapping_id = m.id and r.status = 'completed') as last_used_at,
      '/api/v1/itsm-sync/mappings/' || m.id as link, ${may(caller, VIEW_SYNC)}::boolean as is_visible,
      jsonb_build_object('card_type_key', m.card_type_key, 'card_filter', m.card_filter, 'card_defaults', m.card_defaults,
        'fields', ${embed(rowsOfMapping.fields)}, 'relations', ${embed(rowsOfMapping.relations)}) as content
    from itsm_mappings m join itsm_connections c on c.id = m.connection_id`,
  references({ card_type_key: type, card_filter, card_defaults, fields, relations }, metamodel) {
    const found = new References(metamodel);
    const scope = [type];
    const refer = (path: string, values: readonly unknown[]) => {
      const related = parseRelationPath(path);
      if (related) found.relationType(related.relationType);
      else if (path === 'subtype') for (const value of values) found.subtype(String(value), scope);
      else if (path.startsWith('attributes.')) found.field(path.slice('attributes.'.length), scope, values);
    };
    found.type(type);
    found.filter(card_filter, scope);
    for (const [path, value] of Object.entries(card_defaults))
      refer(path, value === null ? [] : [value].flat());
    for (const field of fields ?? []) {
      const pairs = field.transform_type === 'value_map' ? field.transform_config.pairs : [];
      refer(
        field.card_field,
        pairs.flatMap(({ local }) => (local === null ? [] : local)),
      );
    }
    for (const { relation_type_key: key } of relations ?? []) found.relationType(key);
    return found.all;
  },
});
