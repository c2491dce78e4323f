import { scimError } from './scim.errors.ts';
import { member } from './scim.patch.ts';
import type { ScimListParams } from './scim.resources.ts';

const MAX_TEXT = 4_000;
const MAX_NUMBER = 1_000_000_000;
const MAX_NAMES = 200;

/**
 * The parameters of a SearchRequest (RFC 7644, 3.4.3); names of members are case-insensitive.
 * @throws EstateError `scim_invalid_value`.
 */
export function searchOf(body: unknown): ScimListParams {
  const read = <T>(name: string, what: string, fits: (value: unknown) => value is T): T | undefined => {
    const value = member(body, name.toLowerCase());
    // Null means absent (RFC 7643, 2.5).
    if (value === undefined || value === null) return undefined;
    if (!fits(value)) throw scimError('invalidValue', `${name} has to be ${what}.`);
    return value;
  };
  const names = (name: string) => read(name, 'a list of names of attributes', isNames)?.join(',');
  return {
    filter: read('filter', `a text of 1 to ${MAX_TEXT} characters`, isFilter),
    startIndex: read('startIndex', 'a whole number', isWhole),
    count: read('count', 'a whole number', isWhole),
    attributes: names('attributes'),
    excludedAttributes: names('excludedAttributes'),
  };
}

const isText = (value: unknown): value is string => typeof value === 'string' && value.length <= MAX_TEXT;
const isFilter = (value: unknown): value is string => isText(value) && value !== '';
const isWhole = (value: unknown): value is number =>
  Number.isInteger(value) && Math.abs(value as number) <= MAX_NUMBER;
const isNames = (value: unknown): value is string[] =>
  Array.isArray(value) && value.length <= MAX_NAMES && value.every(isText);
