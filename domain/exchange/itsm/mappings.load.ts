import type { Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { MappingRow } from './mappings.types.ts';

const whole = `select m.id, m.connection_id, m.card_type_key, m.remote_table, m.sync_direction, m.sync_mode,
    m.filter_query, m.card_filter, m.card_defaults, m.record_defaults, m.max_deletions, m.max_deletion_ratio,
    m.quarantine_minutes, m.complete_reads, m.auto_apply, m.auto_apply_max_changes, m.auto_apply_max_ratio,
    m.complete_every_hours, m.follows_changes, m.schedule_key, m.is_active, m.dictionary, m.drift, m.created_by,
    coalesce((select jsonb_agg(to_jsonb(f) - 'mapping_id' - 'position' order by f.position)
      from itsm_field_mappings f where f.mapping_id = m.id), '[]') as fields,
    coalesce((select jsonb_agg(to_jsonb(r) - 'mapping_id' - 'position' order by r.position)
      from itsm_relation_mappings r where r.mapping_id = m.id), '[]') as relations
  from itsm_mappings m`;

/** A mapping as it is stored. @throws EstateError `not_found`. */
export async function loadMappingRow(sql: Sql, id: string): Promise<MappingRow> {
  const { rows } = await sql.raw(`${whole} where m.id = ?`, [id]);
  if (!rows[0]) throw notFound('mapping', id);
  return rows[0];
}

/** The card types of the mappings of a connection, by the mapping's id. */
export async function loadMappedTypes(sql: Sql, connectionId: string): Promise<Record<string, string>> {
  const rows = await sql('itsm_mappings')
    .where({ connection_id: connectionId })
    .select('id', 'card_type_key');
  return Object.fromEntries(rows.map((row) => [row.id, row.card_type_key]));
}

/** The mappings of a connection as they are stored, the oldest first. */
export async function loadMappingRows(sql: Sql, connectionId: string): Promise<MappingRow[]> {
  const { rows } = await sql.raw(`${whole} where m.connection_id = ? order by m.id`, [connectionId]);
  return rows;
}
