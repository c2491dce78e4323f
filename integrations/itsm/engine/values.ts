import type { Value } from '../../../domain/exchange/itsm/mappings.types.ts';

/**
 * Normalizes a value, so that equal values of both sides have the same form: empty values (no value, an empty text, list or
 * object) are null, line ends are `\n`, texts are composed (NFC), `-0` is 0.
 */
export function canonical(value: Value | undefined): Value {
  if (value === undefined || value === null) return null;
  if (typeof value === 'string') {
    const text = value.replaceAll('\r\n', '\n').normalize('NFC');
    return text.trim() === '' ? null : text;
  }
  if (typeof value === 'number') return Number.isFinite(value) ? value + 0 : null;
  if (typeof value === 'boolean') return value;
  if (Array.isArray(value)) return value.length === 0 ? null : value.map(canonical);
  const entries = Object.keys(value)
    .sort()
    .map((key) => [key, canonical(value[key])] as const)
    .filter(([, inner]) => inner !== null);
  return entries.length === 0 ? null : Object.fromEntries(entries);
}

/** Whether two canonical values are equal. */
export function isEqual(left: Value, right: Value): boolean {
  if (left === right) return true;
  if (typeof left !== 'object' || typeof right !== 'object' || left === null || right === null) return false;
  return JSON.stringify(left) === JSON.stringify(right);
}

/** A value as part of a message, at most 80 characters. */
export function formatValue(value: Value): string {
  if (value === null) return 'nothing';
  const text = typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 77)}...` : text;
}
