import type { UndoneEvent } from '../batches/undo.types.ts';
import type { StoredRow } from '../events/row-changes.ts';

/** The row that an event tells of, as it was before (`old`) or after (`new`) the write; whole for created and deleted rows. */
export function toldRow(event: UndoneEvent, side: 'old' | 'new'): StoredRow {
  const values = Object.entries(event.data.changes).map(([column, change]) => [column, change[side]]);
  return { id: event.id, ...Object.fromEntries(values) };
}
