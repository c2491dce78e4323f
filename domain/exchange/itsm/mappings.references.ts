import { embed, fragment } from '../../../platform/database.ts';
import { References, renameKeys } from '../../inventory/metamodel/usage/references.ts';
import { defineConsumers } from '../../kernel/metamodel/consumers.define.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { VIEW_SYNC } from './connections.queries.ts';
import { rowsOfMapping } from './itsm.load.ts';
import { renameInMapping } from './mappings.rename.ts';
import { parseRelationPath } from './mappings.rules.ts';
import type { FieldMapping, Mapping } from './mappings.types.ts';

const ATTRIBUTES = 'attributes.';

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
  references(content, metamodel) {
    const { card_type_key: type, card_filter, card_defaults, fields, relations } = content;
    const found = new References(metamodel);
    const scope = [type];
    const value = <T>(path: string, given: T): T => {
      if (path.startsWith(ATTRIBUTES)) return found.value(path.slice(ATTRIBUTES.length), scope, given);
      if (path === 'subtype')
        for (const key of given === null ? [] : [given].flat()) found.subtype(String(key), scope);
      return given;
    };
    const named = (path: string): string => {
      const related = parseRelationPath(path);
      if (related) found.relationType(related.relationType);
      if (!path.startsWith(ATTRIBUTES)) return path;
      return `${ATTRIBUTES}${found.field(path.slice(ATTRIBUTES.length), scope)}`;
    };
    found.type(type);
    content.card_filter = found.filter(card_filter, scope);
    renameKeys(card_defaults, (path, given) => [named(path), value(path, given)]);
    for (const field of fields ?? []) {
      if (field.transform_type === 'value_map')
        for (const pair of field.transform_config.pairs) pair.local = value(field.card_field, pair.local);
      field.card_field = named(field.card_field);
    }
    for (const { relation_type_key: key } of relations ?? []) found.relationType(key);
    return found.all;
  },
  async write(work, id, { card_filter, card_defaults, fields }) {
    await renameInMapping(work, id, { card_filter, card_defaults, fields: fields ?? [] });
  },
});
