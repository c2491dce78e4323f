import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { requireAssignable } from './people.ts';
import { blankFaults, dayFaults, periodFaults, refuse } from './ppm.checks.ts';
import type { PpmWrite } from './ppm.kinds.ts';

/** What tasks and items of the work breakdown call what they have in common. */
interface Planned {
  /** The column with its last day. */
  end: 'due_date' | 'end_date';
  /** The column with the item that it lies below. */
  above: 'wbs_id' | 'parent_id';
}

/**
 * Checks what a task or an item is to be, but for its place; ids are written small.
 * @returns the item below which it comes to lie, null for none, undefined where it stays.
 * @throws EstateError `validation_failed`.
 */
export async function checkPlanned(
  values: StoredRow,
  { work, before }: Pick<PpmWrite, 'work' | 'before'>,
  { end, above }: Planned,
): Promise<string | null | undefined> {
  const after: StoredRow = { ...before, ...values };
  const day = (column: string) => after[column] as string | null | undefined;
  refuse([
    ...blankFaults(values, ['title']),
    ...dayFaults(values, ['start_date', end]),
    ...periodFaults(day('start_date'), day(end), end),
  ]);
  await requireAssignable(work.sql, values, before, 'assignee_id');
  if (typeof values[above] === 'string') values[above] = values[above].toLowerCase();
  const place = values[above] as string | null | undefined;
  return place === (before?.[above] ?? null) ? undefined : place;
}
