import type { Mapping } from '../../../integrations/itsm/engine/mapping.types.ts';
import type { Sql } from '../../../platform/database.ts';

/** A connection to an address and a mapping of it, as rows. @returns the mapping's id. */
export async function storeMapping(
  sql: Sql,
  mapping: Pick<Mapping, 'cardType' | 'table' | 'direction'>,
  connection: { url: string; secrets?: string } = { url: 'https://remote.example' },
): Promise<{ connectionId: string; mappingId: string }> {
  const [{ id: connectionId }] = await sql('itsm_connections')
    .insert({
      name: connection.url,
      kind: 'servicenow',
      instance_url: connection.url,
      auth_type: 'basic',
      username: 'estate',
      secrets: connection.secrets ?? '',
    })
    .returning('id');
  const [{ id: mappingId }] = await sql('itsm_mappings')
    .insert({
      connection_id: connectionId,
      card_type_key: mapping.cardType,
      remote_table: mapping.table,
      sync_direction: mapping.direction,
      sync_mode: 'conservative',
      max_deletions: 100,
      max_deletion_ratio: 1,
      quarantine_minutes: 0,
      complete_reads: 0,
      complete_every_hours: 24,
    })
    .returning('id');
  return { connectionId, mappingId };
}
