import type { Transaction } from '../../../platform/database.ts';
import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { requireActiveUser } from '../../collaboration/items.ts';
import { isDay } from '../../kernel/dates.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';

/** The first and the last day that plans and lines may contain. */
const FIRST = '1900-01-01';
const LAST = '2200-12-31';

/** Errors of the named days, which are null or `YYYY-MM-DD`. */
export function dayErrors(values: StoredRow, fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) => {
    const day = values[field];
    if (typeof day !== 'string') return [];
    if (!isDay(day)) return [{ field, code: 'bad_date', message: 'is not an existing date' }];
    if (day >= FIRST && day <= LAST) return [];
    return [{ field, code: 'out_of_range', message: `must lie between ${FIRST} and ${LAST}` }];
  });
}

/** The error of a period that ends before it begins. */
function periodErrors(start: unknown, end: unknown, field: string): FieldError[] {
  if (typeof start !== 'string' || typeof end !== 'string' || start <= end) return [];
  return [{ field, code: 'before_start', message: 'must not lie before the start' }];
}

/** Errors of texts that are given and blank. */
export function blankErrors(values: StoredRow, fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) => {
    const text = values[field];
    return typeof text === 'string' && text.trim() === ''
      ? [{ field, code: 'required', message: 'must not be blank' }]
      : [];
  });
}

/** @throws EstateError `validation_failed` with every error. */
export function refuse(errors: FieldError[]): void {
  if (errors.length > 0) throw invalidFields(errors);
}

/**
 * Requires that a newly assigned user is active; one who is assigned already may have been deactivated since.
 * @throws EstateError `validation_failed` naming the field.
 */
export async function requireAssignable(
  sql: Transaction,
  values: StoredRow,
  before: StoredRow | null,
  field: string,
): Promise<void> {
  const given = values[field];
  if (typeof given !== 'string') return;
  const id = given.toLowerCase();
  values[field] = id;
  if (before?.[field] !== id) await requireActiveUser(sql, id, field);
}

/**
 * Checks the values of a task or a WBS item, except for its place in the work breakdown.
 * @param columns `end` contains its last day, `parent` the item above it.
 * @returns the item below which it is moved, null for none, undefined where it stays.
 * @throws EstateError `validation_failed`.
 */
export async function checkPlanned(
  sql: Transaction,
  values: StoredRow,
  before: StoredRow | null,
  { end, parent }: { end: 'due_date' | 'end_date'; parent: 'wbs_id' | 'parent_id' },
): Promise<string | null | undefined> {
  const after: StoredRow = { ...before, ...values };
  refuse([
    ...blankErrors(values, ['title']),
    ...dayErrors(values, ['start_date', end]),
    ...periodErrors(after.start_date, after[end], end),
  ]);
  await requireAssignable(sql, values, before, 'assignee_id');
  if (typeof values[parent] === 'string') values[parent] = values[parent].toLowerCase();
  const place = values[parent] as string | null | undefined;
  return place === (before?.[parent] ?? null) ? undefined : place;
}
