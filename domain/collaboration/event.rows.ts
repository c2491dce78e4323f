import type { UndoneEvent } from '../kernel/undo/undo.types.ts';

/** The row before (`old`) or after (`new`) the write of an event; complete for created and deleted rows. */
export function eventRow<R extends { id: string }>(event: UndoneEvent, side: 'old' | 'new'): R {
  const values = Object.entries(event.data.changes).map(([column, change]) => [column, change[side]]);
  return { id: event.id, ...Object.fromEntries(values) } as R;
}
