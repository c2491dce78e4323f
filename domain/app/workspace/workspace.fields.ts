import type { FieldError } from '../../../platform/errors.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';

/** What may stand in a column. */
export interface FieldRule {
  /** Characters of a text, at most. */
  max?: number;
  /** The text is not blank. */
  filled?: true;
  pattern?: RegExp;
  least?: number;
  most?: number;
}

/** What is wrong with a row by the rules of its columns. Types were looked at before. */
export function fieldFaults(rules: Readonly<Record<string, FieldRule>>, row: StoredRow): FieldError[] {
  return Object.entries(rules).flatMap(([field, rule]) => {
    const value = row[field] ?? null;
    if (value === null) return [];
    const why = typeof value === 'number' ? ofNumber(rule, value) : ofText(rule, String(value));
    return why ? [{ field, ...why }] : [];
  });
}

function ofText({ max, filled, pattern }: FieldRule, value: string): Omit<FieldError, 'field'> | undefined {
  if (filled && value.trim() === '') return { code: 'required', message: 'must not be blank' };
  // as schemas count them: a character beyond the first plane is one
  if (max !== undefined && value.length > max && [...value].length > max) {
    return { code: 'too_long', message: `has more than ${max} characters` };
  }
  return pattern?.test(value) === false
    ? { code: 'format', message: `must match ${pattern.source}` }
    : undefined;
}

function ofNumber({ least, most }: FieldRule, value: number): Omit<FieldError, 'field'> | undefined {
  const outside = (least !== undefined && value < least) || (most !== undefined && value > most);
  return outside ? { code: 'out_of_range', message: `must lie between ${least} and ${most}` } : undefined;
}
