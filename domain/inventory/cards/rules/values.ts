import type { FieldError } from '../../../../platform/errors.ts';
import { isDay } from '../../../kernel/dates.ts';
import type { CompiledField } from '../../../kernel/metamodel/metamodel.compile.ts';
import { checkLine, checkText, isLongerThan } from './text.ts';

const MAX_TEXT = 10_000;
const MAX_MULTILINE = 100_000;
const MAX_URL = 2_000;
// beyond it a number loses its whole units in JavaScript, spreadsheets and sums
const MAX_NUMBER = 1e15;

function isLink(text: string): boolean {
  if (!/^(https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(text)) return false;
  return URL.canParse(text);
}

function wrongType(field: string, expected: string): FieldError {
  return { field, code: 'wrong_type', message: `must be ${expected}` };
}

function unknownOption(field: string): FieldError {
  return { field, code: 'unknown_option', message: 'is none of the options of this field' };
}

function checkOptions(definition: CompiledField, field: string, value: unknown): FieldError | undefined {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    return wrongType(field, 'a list of option keys');
  }
  if (!value.every((item) => definition.options.has(item))) return unknownOption(field);
  if (new Set(value).size < value.length) {
    return { field, code: 'duplicate_option', message: 'names an option twice' };
  }
  return undefined;
}

/**
 * Checks one attribute's value, which is not null, against its field's type. `field` is the path to report.
 * The message never repeats the value: it may be a cost.
 */
export function checkValue(definition: CompiledField, field: string, value: unknown): FieldError | undefined {
  switch (definition.type) {
    case 'text':
      return typeof value === 'string' ? checkText(field, value, MAX_TEXT) : wrongType(field, 'a text');
    case 'multiline_text':
      return typeof value === 'string' ? checkText(field, value, MAX_MULTILINE) : wrongType(field, 'a text');
    case 'number':
    case 'cost':
      if (typeof value !== 'number') return wrongType(field, 'a number');
      return Number.isFinite(value) && Math.abs(value) <= MAX_NUMBER
        ? undefined
        : { field, code: 'out_of_range', message: 'lies outside -1e15 to 1e15' };
    case 'boolean':
      return typeof value === 'boolean' ? undefined : wrongType(field, 'true or false');
    case 'date':
      if (typeof value !== 'string') return wrongType(field, 'a date as YYYY-MM-DD');
      return isDay(value)
        ? undefined
        : { field, code: 'bad_date', message: 'is not an existing date as YYYY-MM-DD' };
    case 'url': {
      if (typeof value !== 'string') return wrongType(field, 'an address');
      const fits = !isLongerThan(value, MAX_URL) && !checkLine(field, value, MAX_URL) && isLink(value);
      return fits
        ? undefined
        : {
            field,
            code: 'bad_url',
            message: 'is not an http, https or mailto address of at most 2,000 characters',
          };
    }
    case 'single_select':
      if (typeof value !== 'string') return wrongType(field, 'an option key');
      return definition.options.has(value) ? undefined : unknownOption(field);
    case 'multiple_select':
      return checkOptions(definition, field, value);
  }
}

/**
 * Checks all attributes that are sent, against the fields of a card type or relation type. Nulls clear and always
 * fit; keys of no field do not. That a `required` field is empty is no fault: inventories come in as they are, and
 * what is missing shows in the data quality.
 */
export function checkAttributes(
  fields: ReadonlyMap<string, CompiledField>,
  attributes: Record<string, unknown>,
): FieldError[] {
  return Object.entries(attributes).flatMap(([key, value]) => {
    const field = `attributes.${key}`;
    const definition = fields.get(key);
    if (!definition) {
      return { field, code: 'unknown_attribute', message: 'is no attribute of this type' };
    }
    return value === null ? [] : (checkValue(definition, field, value) ?? []);
  });
}
