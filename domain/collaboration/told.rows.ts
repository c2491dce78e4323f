import type { StoredRow } from '../kernel/events/row-changes.ts';
import type { UndoneEvent } from '../kernel/undo/undo.types.ts';

/** The row that an event tells of, as it was before (`old`) or after (`new`) the write; whole for created and deleted rows. */
export function toldRow(event: UndoneEvent, side: 'old' | 'new'): StoredRow {
  const values = Object.entries(event.data.changes).map(([column, change]) => [column, change[side]]);
  return { id: event.id, ...Object.fromEntries(values) };
}
