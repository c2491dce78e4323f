import type { FieldError } from './errors.ts';

export const BAD_TEXT = 'bad_text';
/** The maximum depth of JSON values; recursive code relies on it. */
const MAX_DEPTH = 50;

interface Place {
  value: unknown;
  /** The member's name, and the place it is in. */
  name: string;
  inside: Place | undefined;
  depth: number;
}

/**
 * What of a value cannot be stored, by the path to it: texts that PostgreSQL cannot hold (NUL, half of a surrogate pair),
 * members by whose names other code would reach an object's prototype, and what is nested too deep, where nothing further
 * is checked. Each would fail somewhere behind, and not always as a refusal.
 */
export function storageErrors(part: unknown): FieldError[] {
  if (part === undefined || part === null) return [];
  const faults: FieldError[] = [];
  const open: Place[] = [{ value: part, name: '', inside: undefined, depth: 0 }];
  for (let place = open.pop(); place; place = open.pop()) {
    const { value, depth } = place;
    if (place.name === '__proto__') {
      faults.push({ field: pathOf(place), code: 'bad_key', message: 'is no name for a member' });
    }
    if (typeof value === 'string') {
      if (value.includes('\0') || !value.isWellFormed()) {
        const message = 'contains a NUL or an incomplete character';
        faults.push({ field: pathOf(place), code: BAD_TEXT, message });
      }
    } else if (depth > MAX_DEPTH) {
      faults.push({ field: pathOf(place), code: 'too_deep', message: 'is nested too deep' });
      break;
    } else if (isPlain(value)) {
      for (const [name, member] of Object.entries(value)) {
        open.push({ value: member, name, inside: place, depth: depth + 1 });
      }
    }
  }
  return faults.reverse();
}

/** Uploads are streams or buffers, and are checked by those who read them. */
function isPlain(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false;
  const prototype = Object.getPrototypeOf(value);
  // the parser of queries makes objects of a prototype of its own, which inherits from nothing
  return Array.isArray(value) || prototype === null || Object.getPrototypeOf(prototype) === null;
}

function pathOf(place: Place): string {
  const names: string[] = [];
  for (let at: Place | undefined = place; at?.inside; at = at.inside) names.unshift(at.name);
  return names.join('.') || 'body';
}
