import Type from 'typebox';
import type { Sql } from '../../../platform/database.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, readItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { TextUpTo, Uuid } from '../../kernel/shapes.ts';
import { VIEW_SYNC } from './connections.queries.ts';
import { rowsOfMapping } from './itsm.load.ts';
import { mappingColumns } from './mappings.input.ts';
import { type BrokenReasonInput, findBrokenReason } from './mappings.rules.ts';

/** The mappings, of one connection or of all. */
export const mappingList = defineList({
  name: 'itsm-mappings',
  permission: VIEW_SYNC,
  from: `itsm_mappings m join itsm_connections c on c.id = m.connection_id
    left join job_schedules s on s.key = m.schedule_key`,
  id: 'm.id',
  sorts: {
    card_type_key: { sql: 'm.card_type_key', type: 'text', filled: true },
    remote_table: { sql: 'm.remote_table', type: 'text', filled: true },
    created_at: { sql: 'm.created_at', type: 'timestamptz', immutable: true },
  },
  defaultSort: 'created_at',
  filters: {
    connection_id: [
      Type.String({ ...Uuid, description: 'Only mappings of this connection' }),
      'm.connection_id = ?::uuid',
    ],
    card_type_key: [TextUpTo(100, 'Only mappings of this card type'), 'm.card_type_key = ?'],
  },
  members: {
    id: 'm.id',
    ...columnMembers('m', { columns: mappingColumns }),
    connection_name: 'c.name',
    skip_staging: 'm.auto_apply',
    schedule: `case when s.key is not null then json_build_object('cron', s.cron, 'time_zone', s.time_zone,
      'enabled', s.enabled) end`,
    due_at: 'utc(m.due_at)',
    // the input of `brokenReason`; `withBrokenReason` replaces it with the reason
    broken: `json_build_object('id', m.id, 'card_type_key', m.card_type_key, 'sync_direction', m.sync_direction,
      'card_defaults', m.card_defaults, 'drift', m.drift, 'fields', ${rowsOfMapping.fields},
      'relations', ${rowsOfMapping.relations},
      'mapped_types', (select json_object_agg(o.id, o.card_type_key) from itsm_mappings o
        where o.connection_id = m.connection_id))`,
    dictionary_at: 'utc(m.dictionary_at)',
    drift: `coalesce(m.drift, '[]')`,
    field_mappings: `coalesce((select jsonb_agg(to_jsonb(f) - 'mapping_id' - 'position'
      || jsonb_build_object('id', f.mapping_id || '.' || f.position) order by f.position)
      from itsm_field_mappings f where f.mapping_id = m.id), '[]')`,
    relation_mappings: rowsOfMapping.relations,
    created_by: 'm.created_by',
    created_at: 'utc(m.created_at)',
    updated_at: 'utc(greatest(m.updated_at, s.updated_at))',
  },
  search: `fold(m.card_type_key || ' ' || m.remote_table || ' ' || c.name)`,
  complete: ({ metamodel }, mappings: ListedMapping[]) => withBrokenReason(metamodel, mappings),
});

interface ListedMapping {
  broken?: BrokenReasonInput | null;
}

/** Replaces the input of `broken` with the reason why a mapping cannot run. */
function withBrokenReason<M extends ListedMapping>(metamodel: Metamodel, mappings: M[]): object[] {
  return mappings.map((mapping) =>
    mapping.broken ? { ...mapping, broken: findBrokenReason(metamodel, mapping.broken) } : mapping,
  );
}

/** One mapping as JSON, without a permission check. @throws EstateError `not_found`. */
export async function mappingText(sql: Sql, metamodel: Metamodel, id: string): Promise<JsonText> {
  const text = await readItem(sql, mappingList, 'mapping', id);
  return JSON.stringify(withBrokenReason(metamodel, [JSON.parse(text)])[0]);
}
