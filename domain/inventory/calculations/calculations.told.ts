import type { Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { rowChanges, type StoredRow } from '../../kernel/events/row-changes.ts';
import { loadMetamodel, METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';

/** The formulas' table. */
export const CALCULATIONS = 'calculations';

/** Notes the event of a written formula. */
export function tellCalculation(
  work: Work,
  before: StoredRow | null,
  after: StoredRow | null,
  event_type: EventType = `calculation.${before === null ? 'created' : after === null ? 'deleted' : 'updated'}`,
): void {
  const row = (after ?? before)!;
  work.emit({
    event_type,
    data: {
      id: row.id,
      name: row.name,
      target_type_key: row.target_type_key,
      target_field_key: row.target_field_key,
      changes: rowChanges(before, after),
    },
  });
}

/** Active formulas are a part of the metamodel: reads it anew after one was written. */
export async function takeUp(work: Work): Promise<void> {
  work.metamodel = await loadMetamodel(work.sql);
  work.raise(METAMODEL_TOPIC);
}
