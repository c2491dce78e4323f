import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { type CheckedMapping, metamodelFaults } from './mappings.check.ts';
import type { DriftEntry } from './mappings.types.ts';

/** What has to be known of a mapping to tell whether it can run. */
export type StoredForBreak = Omit<CheckedMapping, 'fields' | 'relations'> & {
  fields: CheckedMapping['fields'] | null;
  relations: CheckedMapping['relations'] | null;
  drift: DriftEntry[] | null;
  /** Card types of the connection's mappings, by id. */
  mapped_types: Record<string, string>;
};

/** Columns that are neither read nor written until the mapping is checked again. */
export function stoppedColumns(drift: readonly DriftEntry[] | null): Set<string> {
  return new Set((drift ?? []).filter(({ stops }) => stops).map(({ column }) => column));
}

/**
 * Why a mapping cannot run: it has no fields yet, the metamodel has changed under it, or the remote's table has. Null
 * when it can.
 */
export function brokenReason(metamodel: Metamodel, mapping: StoredForBreak): string | null {
  const fields = mapping.fields ?? [];
  if (!fields.some(({ card_field }) => card_field === 'name')) {
    if (fields.length === 0) return 'No fields are mapped yet.';
    if (mapping.sync_direction !== 'push') return 'No column is mapped to the name.';
  }
  const [fault] = metamodelFaults(
    metamodel,
    { ...mapping, fields, relations: mapping.relations ?? [] },
    new Map(Object.entries(mapping.mapped_types)),
  );
  if (fault) return `${fault.field} ${fault.message}.`;
  return remoteReason(mapping.drift, fields);
}

function remoteReason(drift: readonly DriftEntry[] | null, fields: CheckedMapping['fields']): string | null {
  const table = drift?.find(({ change }) => change === 'table');
  if (table) return table.message;
  const stopped = stoppedColumns(drift);
  const needed = fields.find(
    ({ remote_field, card_field, is_identity }) =>
      stopped.has(remote_field) && (is_identity || card_field === 'name'),
  );
  if (!needed) return null;
  return `The column '${needed.remote_field}' is needed to tell records apart, and is no longer as it was.`;
}
