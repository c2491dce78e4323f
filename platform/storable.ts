import type { FieldError } from './errors.ts';

/** A name as it is stored and compared: in one Unicode form (NFC), without blanks around it. */
export const cleanName = (text: string): string => text.normalize('NFC').trim();

export const BAD_TEXT = 'bad_text';
/** The maximum depth of JSON values; recursive code relies on it. */
const MAX_DEPTH = 50;

/**
 * What of a value cannot be stored, by the path to it: texts that PostgreSQL cannot hold (NUL, half of a surrogate pair),
 * members by whose names other code would reach an object's prototype, and what is nested too deep, where nothing further
 * is checked. Each would fail later, and not always with a clear error.
 */
export function storageErrors(part: unknown): FieldError[] {
  if (part === undefined || part === null) return [];
  const errors: FieldError[] = [];
  const path: (string | number)[] = [];
  const report = (name: string | number, code: string, message: string) =>
    errors.push({ field: [...path, name].slice(1).join('.') || 'body', code, message });
  /** @returns whether to continue. */
  const check = (value: unknown, name: string | number): boolean => {
    if (typeof value === 'string') {
      if (value.includes('\0') || !value.isWellFormed())
        report(name, BAD_TEXT, 'contains a NUL or an incomplete character');
    } else if (path.length > MAX_DEPTH) {
      report(name, 'too_deep', 'is nested too deep');
      return false;
    } else if (isPlain(value)) {
      path.push(name);
      const isDone = Array.isArray(value)
        ? value.every(check)
        : checkMembers(value as Record<string, unknown>);
      path.pop();
      return isDone;
    }
    return true;
  };
  const checkMembers = (object: Record<string, unknown>): boolean =>
    Object.keys(object).every((name) => {
      if (name === '__proto__') report(name, 'bad_key', 'is no name for a member');
      return check(object[name], name);
    });
  check(part, '');
  return errors;
}

/** Uploads are streams or buffers, and are checked by those who read them. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  // the parser of queries makes objects of a prototype of its own, which inherits from nothing
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}
