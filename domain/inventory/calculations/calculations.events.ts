import type { Work } from '../../kernel/context.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import { rowEvent } from '../../kernel/events/row-changes.ts';
import type { CalculationRow } from '../../kernel/formulas/calculations.model.ts';
import { loadMetamodel, METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';

/** Emits the event of a written formula, by default that of the kind of write. */
export function emitCalculation(
  work: Work,
  before: CalculationRow | null,
  after: CalculationRow | null,
  event_type?: EventType,
): void {
  const { id, name, target_type_key, target_field_key } = (after ?? before)!;
  const event = rowEvent('calculation', before, after, { id, name, target_type_key, target_field_key });
  work.emit(event_type ? { ...event, event_type } : event);
}

/** Reloads the metamodel, which active formulas are part of, after one was written. */
export async function reloadMetamodel(work: Work): Promise<void> {
  work.metamodel = await loadMetamodel(work.sql);
  work.raise(METAMODEL_TOPIC);
}
