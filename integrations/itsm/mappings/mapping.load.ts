import { loadMappedTypes, loadMappingRow } from '../../../domain/exchange/itsm/mappings.load.ts';
import { brokenReason, stoppedColumns } from '../../../domain/exchange/itsm/mappings.rules.ts';
import type { FieldRow, MappingRow } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { Sql } from '../../../platform/database.ts';
import type { FieldMapping, Mapping, Path, Transform } from '../engine/model.types.ts';

/** A stored mapping in the engine's terms, with what the engine need not know beside it. Plain JSON. */
export interface LoadedMapping {
  mapping: Mapping;
  connectionId: string;
  /** In the remote's own language; null: the whole table. */
  remoteFilter: string | null;
  /** In the filter language of lists; null: every card of the type. */
  cardFilter: string | null;
  /** Up to how much a plan is applied without anybody's look; null: never. */
  autoApply: { maxChanges: number | null; maxRatio: number | null } | null;
  /** How old the last complete reading may be for a delta to do; milliseconds. */
  completeEveryMs: number;
  /** By path of a field of kind `reference`: the mapping of the cards referred to. */
  references: Record<Path, string>;
  /** By the place in `mapping.relations`: the mapping of the cards at the other end. */
  relationTargets: string[];
  /** Mappings that relations lead to and that do not run now, paused or broken; by id what they keep in step. */
  resting: Record<string, string>;
  /** Tables of the other mappings that relations lead to and that run; by the mapping's id. */
  targetTables: Record<string, string>;
  /** False: paused, no run begins. */
  active: boolean;
  /** Why no run may begin although it is active: the metamodel or the remote's table has changed under it. */
  broken: string | null;
  /** It is broken by what the remote's dictionary was when it was last looked at, and by nothing else. */
  brokenByDrift: boolean;
  /** Whose doing its runs are when nobody asked for them; null when that person is gone. */
  owner: string | null;
}

/**
 * A stored mapping as the engine takes it, by the metamodel in force.
 * @throws EstateError `not_found`.
 */
export async function loadMapping(sql: Sql, metamodel: Metamodel, id: string): Promise<LoadedMapping> {
  const row = await loadMappingRow(sql, id);
  const mapped_types = await loadMappedTypes(sql, row.connection_id);
  const broken = brokenReason(metamodel, { ...row, mapped_types });
  const brokenByDrift =
    broken !== null && brokenReason(metamodel, { ...row, mapped_types, drift: null }) === null;
  const resting: LoadedMapping['resting'] = {};
  const targetTables: LoadedMapping['targetTables'] = {};
  for (const { target_mapping_id: other } of row.relations) {
    if (other === null || other === row.id || other in resting || other in targetTables) continue;
    const target = await loadMappingRow(sql, other);
    const runs = target.is_active && brokenReason(metamodel, { ...target, mapped_types }) === null;
    if (runs) targetTables[other] = target.remote_table;
    else resting[other] = `${target.card_type_key} with ${target.remote_table}`;
  }
  return { ...engineMapping(row), broken, brokenByDrift, resting, targetTables };
}

/**
 * The same of a row at hand. Fields whose column has vanished or become something else are left out, so that nothing
 * is taken for emptied.
 */
export function engineMapping(
  row: MappingRow,
): Omit<LoadedMapping, 'broken' | 'brokenByDrift' | 'resting' | 'targetTables'> {
  const stopped = stoppedColumns(row.drift);
  const kept = row.fields.filter(({ remote_field }) => !stopped.has(remote_field));
  return {
    mapping: {
      id: row.id,
      cardType: row.card_type_key,
      table: row.remote_table,
      direction: row.sync_direction,
      fields: kept.map(engineField),
      relations: row.relations.map(({ relation_type_key, remote_type, reversed }) => ({
        relationType: relation_type_key,
        remoteType: remote_type,
        reversed,
      })),
      defaults: { local: row.card_defaults, remote: row.record_defaults },
      filtered: row.filter_query !== null,
      deletion: {
        mode: row.sync_mode,
        maxCount: row.max_deletions,
        maxRatio: row.max_deletion_ratio,
        quarantineMs: row.quarantine_minutes * 60_000,
        completeReads: row.complete_reads,
      },
    },
    connectionId: row.connection_id,
    remoteFilter: row.filter_query,
    cardFilter: row.card_filter,
    autoApply: row.auto_apply
      ? { maxChanges: row.auto_apply_max_changes, maxRatio: row.auto_apply_max_ratio }
      : null,
    completeEveryMs: row.complete_every_hours * 3_600_000,
    references: Object.fromEntries(
      kept.flatMap((field) =>
        field.transform_type === 'reference'
          ? [[field.card_field, field.transform_config.mapping_id ?? row.id]]
          : [],
      ),
    ),
    relationTargets: row.relations.map(({ target_mapping_id }) => target_mapping_id ?? row.id),
    active: row.is_active,
    owner: row.created_by,
  };
}

function engineField(row: FieldRow): FieldMapping {
  return {
    path: row.card_field,
    remote: row.remote_field,
    rule: row.direction,
    transform: engineTransform(row),
    identity: row.is_identity,
  };
}

function engineTransform(row: FieldRow): Transform {
  switch (row.transform_type) {
    case 'direct':
      return { kind: row.transform_config.as ?? 'direct' };
    case 'reference':
      return { kind: 'reference' };
    case 'value_map':
      return { kind: 'value_map', pairs: row.transform_config.pairs };
    case 'date_format':
      return { kind: 'date', remote: row.transform_config.remote };
    case 'boolean':
      return { kind: 'boolean', ...row.transform_config };
    case 'expression': {
      const { to_local, to_remote } = row.transform_config;
      return {
        kind: 'expression',
        toLocal: to_local,
        ...(to_remote === null ? {} : { toRemote: to_remote }),
      };
    }
  }
}
