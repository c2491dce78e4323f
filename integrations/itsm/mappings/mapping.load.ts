import { loadMappedTypes, loadStoredMapping } from '../../../domain/exchange/itsm/mappings.load.ts';
import { brokenReason, stoppedColumns } from '../../../domain/exchange/itsm/mappings.rules.ts';
import type { Mapping } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { Metamodel } from '../../../domain/kernel/metamodel/metamodel.compile.ts';
import type { Sql } from '../../../platform/database.ts';
import type { Path } from '../engine/model.types.ts';

/** A mapping as runs use it, without fields whose column vanished or changed its type. Plain JSON. */
export interface UsableMapping extends Mapping {
  /** Why no run can start: the metamodel or the remote's schema has changed. Null: runs can start. */
  broken: string | null;
  /** The remote's schema, as last checked, is the only reason. */
  broken_by_drift: boolean;
  /** Mappings at the other end of relations that are paused or broken: card type and table by the mapping's id. */
  blocked_targets: Record<string, string>;
  /** Tables of the mappings at the other end of relations that can run, by the mapping's id. */
  target_tables: Record<string, string>;
}

/** Loads a mapping for use with the current metamodel. @throws EstateError `not_found`. */
export async function loadMapping(sql: Sql, metamodel: Metamodel, id: string): Promise<UsableMapping> {
  const stored = await loadStoredMapping(sql, id);
  const mapped_types = await loadMappedTypes(sql, stored.connection_id);
  const broken = brokenReason(metamodel, { ...stored, mapped_types });
  const blocked_targets: UsableMapping['blocked_targets'] = {};
  const target_tables: UsableMapping['target_tables'] = {};
  for (const { target_mapping_id: other } of stored.relations) {
    if (other === null || other === id || other in blocked_targets || other in target_tables) continue;
    const target = await loadStoredMapping(sql, other);
    const canRun = target.is_active && brokenReason(metamodel, { ...target, mapped_types }) === null;
    if (canRun) target_tables[other] = target.remote_table;
    else blocked_targets[other] = `${target.card_type_key} with ${target.remote_table}`;
  }
  const stopped = stoppedColumns(stored.drift);
  return {
    ...stored,
    fields: stored.fields.filter(({ remote_field }) => !stopped.has(remote_field)),
    dictionary: null,
    drift: null,
    broken,
    broken_by_drift:
      broken !== null && brokenReason(metamodel, { ...stored, mapped_types, drift: null }) === null,
    blocked_targets,
    target_tables,
  };
}

/** The mapping whose cards each reference field refers to, by the field's path. */
export const referencedMappings = ({ id, fields }: Mapping): Record<Path, string> =>
  Object.fromEntries(
    fields.flatMap((field) =>
      field.transform_type === 'reference'
        ? [[field.card_field, field.transform_config.mapping_id ?? id]]
        : [],
    ),
  );
