import { type FieldError, invalidFields } from '../../../platform/errors.ts';
import { isDay } from '../../kernel/dates.ts';

/** The first and the last day that plans and lines may name. */
const FIRST = '1900-01-01';
const LAST = '2200-12-31';

/** Faults of the named days, which are null or `YYYY-MM-DD`. */
export function dayFaults(values: Record<string, unknown>, fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) => {
    const day = values[field];
    if (typeof day !== 'string') return [];
    if (!isDay(day)) return [{ field, code: 'bad_date', message: 'is not an existing date' }];
    if (day >= FIRST && day <= LAST) return [];
    return [{ field, code: 'out_of_range', message: `must lie between ${FIRST} and ${LAST}` }];
  });
}

/** The fault of a period that ends before it begins. */
export function periodFaults(
  start: string | null | undefined,
  end: string | null | undefined,
  field: string,
): FieldError[] {
  if (!start || !end || start <= end) return [];
  return [{ field, code: 'before_start', message: 'must not lie before the start' }];
}

/** Faults of texts that must say something where they are given. */
export function blankFaults(values: Record<string, unknown>, fields: readonly string[]): FieldError[] {
  return fields.flatMap((field) => {
    const text = values[field];
    return typeof text === 'string' && text.trim() === ''
      ? [{ field, code: 'required', message: 'must not be blank' }]
      : [];
  });
}

/** @throws EstateError `validation_failed` naming every fault. */
export function refuse(faults: FieldError[]): void {
  if (faults.length > 0) throw invalidFields(faults);
}
