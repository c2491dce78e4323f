import { EstateError, type FieldError, fieldError, invalidFields } from '../../../../platform/errors.ts';
import { cleanName } from '../../../../platform/storable.ts';
import { shortened, unknownChoice } from '../../../kernel/choices.ts';
import { isDay } from '../../../kernel/dates.ts';
import { presentAttributes } from '../../../kernel/metamodel/deprecations.ts';
import type { CardType, CompiledField, Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import { type LifecyclePhase, lifecyclePhases } from '../../../kernel/metamodel/metamodel.types.ts';
import { LEVEL_FIELD } from './capability.ts';
import { type CardInput, type Lifecycle, ownValue, sameValue } from './diff.ts';
import { mergeLifecycle } from './merge.ts';

/** Maximum lengths of texts, in characters (code points). */
export const MAX_NAME = 500;
export const MAX_ALIAS = 500;
export const MAX_EXTERNAL_ID = 500;
export const MAX_DESCRIPTION = 100_000;

/** Whether a text has more than `max` characters; astral characters count once. */
function isLongerThan(text: string, max: number): boolean {
  if (text.length <= max) return false;
  if (text.length > max * 2) return true;
  let characters = 0;
  for (const _ of text) characters += 1;
  return characters > max;
}

/** Whether PostgreSQL can store the text: it has neither NUL nor a lone surrogate. */
export const isStorable = (text: string): boolean => !text.includes('\0') && text.isWellFormed();

/** Checks a text that may have several lines. */
export function checkText(field: string, text: string, max: number): FieldError | undefined {
  if (isLongerThan(text, max)) {
    return { field, code: 'too_long', message: `has more than ${max.toLocaleString('en')} characters` };
  }
  if (!isStorable(text)) {
    return { field, code: 'bad_text', message: 'contains a NUL or an incomplete character' };
  }
  return undefined;
}

const CONTROL = /[\p{Cc}\p{Zl}\p{Zp}]/u;
/**
 * A text without visible characters: only blanks and what is drawn as nothing, such as zero-width spaces, soft hyphens, fillers of
 * Hangul and the blank of Braille.
 */
const INVISIBLE = /^\s*(?:[\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]\s*)+$/u;

/** Checks a text on one line, such as a name. */
export function checkLine(field: string, text: string, max: number): FieldError | undefined {
  const error = checkText(field, text, max);
  if (error) return error;
  if (INVISIBLE.test(text)) return { field, code: 'bad_text', message: 'contains no visible character' };
  if (!CONTROL.test(text)) return undefined;
  return { field, code: 'bad_text', message: 'contains a line break or another control character' };
}

const MAX_TEXT = 10_000;
const MAX_MULTILINE = 100_000;
const MAX_URL = 2_000;
// Greater numbers lose whole units in JavaScript, spreadsheets and sums.
const MAX_NUMBER = 1e15;

function isLink(text: string): boolean {
  if (!/^(https?:\/\/|mailto:)[^\s\p{Cc}]+$/iu.test(text)) return false;
  return URL.canParse(text);
}

function wrongType(field: string, expected: string): FieldError {
  return { field, code: 'wrong_type', message: `must be ${expected}` };
}

/** The maximum number of options that a message lists. */
const NAMED_OPTIONS = 20;

function unknownOption({ options, optionLabels }: CompiledField, field: string, value: string): FieldError {
  const allowed = options.size <= NAMED_OPTIONS ? `: ${[...options].join(', ')}` : '';
  const message = `"${shortened(value)}" is none of the options of this field${allowed}`;
  return unknownChoice({ field, code: 'unknown_option', message }, value, options, optionLabels);
}

function checkOptions(definition: CompiledField, field: string, value: unknown): FieldError | undefined {
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    return wrongType(field, 'a list of option keys');
  }
  const unknown = value.find((item) => !definition.options.has(item));
  if (unknown !== undefined) return unknownOption(definition, field, unknown);
  if (new Set(value).size < value.length) {
    return { field, code: 'duplicate_option', message: 'names an option twice' };
  }
  return undefined;
}

/**
 * Checks the value of an attribute, which is not null, against the type of its field. `field` is the path to report.
 * The message never repeats the value, which may be a cost.
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
        : { field, code: 'out_of_range', message: 'is outside -1e15 to 1e15' };
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
        : fieldError(field, 'bad_url', 'is not an http, https or mailto address of at most 2,000 characters');
    }
    case 'single_select':
      if (typeof value !== 'string') return wrongType(field, 'an option key');
      return definition.options.has(value) ? undefined : unknownOption(definition, field, value);
    case 'multiple_select':
      return checkOptions(definition, field, value);
  }
}

/**
 * Checks all given attributes against the fields of a card type or relation type. Nulls clear and are always valid;
 * unknown keys are not. An empty `required` field is no error: inventories are imported incomplete, and data quality
 * shows what is missing.
 */
export function checkAttributes(
  fields: ReadonlyMap<string, CompiledField>,
  attributes: Record<string, unknown>,
): FieldError[] {
  let unknown = 0;
  return Object.entries(attributes).flatMap(([key, value]) => {
    const field = `attributes.${key}`;
    const definition = fields.get(key);
    if (!definition) {
      const error = { field, code: 'unknown_attribute', message: 'is no attribute of this type' };
      unknown += 1;
      return unknown > NAMED_OPTIONS ? error : unknownChoice(error, key, fields.keys());
    }
    return value === null ? [] : (checkValue(definition, field, value) ?? []);
  });
}

const phases: ReadonlySet<string> = new Set(lifecyclePhases);

/** Checks the given phases: known names and existing days; null clears a phase. */
export function checkLifecycle(input: Record<string, unknown>): FieldError[] {
  return Object.entries(input).flatMap(([phase, day]) => {
    const field = `lifecycle.${phase}`;
    if (!phases.has(phase)) {
      return { field, code: 'unknown_phase', message: `is none of ${lifecyclePhases.join(', ')}` };
    }
    if (day === null || (typeof day === 'string' && isDay(day))) return [];
    return { field, code: 'bad_date', message: 'is not an existing date as YYYY-MM-DD' };
  });
}

/** Checks that no phase begins before the previous one; several may begin on the same day. */
export function checkLifecycleOrder(lifecycle: Lifecycle | null): FieldError[] {
  if (!lifecycle) return [];
  const errors: FieldError[] = [];
  let latest: LifecyclePhase | undefined;
  for (const phase of lifecyclePhases) {
    const day = lifecycle[phase];
    if (day === undefined) continue;
    if (latest !== undefined && day < lifecycle[latest]!) {
      errors.push({ field: `lifecycle.${phase}`, code: 'lifecycle_order', message: `lies before ${latest}` });
    } else {
      latest = phase;
    }
  }
  return errors;
}

/**
 * The input in its stored form: names, aliases and external ids are trimmed and in one Unicode form, and empty texts are null.
 */
export function cleanCardInput(input: CardInput): CardInput {
  const clean: CardInput = { ...input };
  if (typeof clean.name === 'string') clean.name = cleanName(clean.name);
  if (typeof clean.alias === 'string') clean.alias = cleanName(clean.alias) || null;
  if (typeof clean.external_id === 'string') clean.external_id = cleanName(clean.external_id) || null;
  if (clean.description === '') clean.description = null;
  if (typeof clean.parent_id === 'string') clean.parent_id = clean.parent_id.toLowerCase();
  return clean;
}

/** The input by the present keys of fields and options: a rename since a request was read may have given them others. */
export function presentInput<I extends CardInput>(metamodel: Metamodel, type: string, input: I): I {
  const { attributes } = input;
  return attributes
    ? { ...input, attributes: presentAttributes(metamodel, { kind: 'card', type }, attributes) }
    : input;
}

interface InputChecks {
  /** Whether it is the input of a new card, which needs a name. */
  creating?: boolean;
  /** The stored attributes: a readonly field is accepted if its value is unchanged. */
  stored?: Record<string, unknown>;
  /** Keys of attributes that are sums of lines or costs: they are also accepted if unchanged. */
  summed?: readonly string[];
}

/**
 * All errors of a cleaned input for a card of the type, by field, without access to the database. The order of
 * lifecycle phases is checked among the given ones; check it again after a merge with `checkLifecycleOrder`.
 */
export function validateCardInput(
  metamodel: Metamodel,
  type: string,
  input: CardInput,
  checks: InputChecks = {},
): FieldError[] {
  const cardType = metamodel.cardTypes.get(type);
  if (!cardType || cardType.is_hidden) {
    const error = { field: 'type', code: 'unknown_type', message: 'is no card type' };
    return [unknownChoice(error, type, metamodel.visibleTypes)];
  }
  return validateForType(cardType, input, checks);
}

/** {@link validateCardInput} for a known type, which may be hidden. */
export function validateForType(
  cardType: CardType,
  input: CardInput,
  checks: InputChecks = {},
): FieldError[] {
  const errors: (FieldError | undefined)[] = [];
  if (input.name === '' || input.name === null || (checks.creating && input.name === undefined)) {
    errors.push({ field: 'name', code: 'required', message: 'must not be blank' });
  } else if (input.name !== undefined) {
    errors.push(checkLine('name', input.name, MAX_NAME));
  }
  if (input.alias) errors.push(checkLine('alias', input.alias, MAX_ALIAS));
  if (input.external_id) errors.push(checkLine('external_id', input.external_id, MAX_EXTERNAL_ID));
  if (input.description) errors.push(checkText('description', input.description, MAX_DESCRIPTION));
  if (typeof input.subtype === 'string' && !cardType.subtypeKeys.has(input.subtype)) {
    const message = `is no subtype of ${cardType.key}`;
    const error = { field: 'subtype', code: 'unknown_subtype', message };
    const labels = new Map(cardType.subtypes.map(({ key, label }) => [key, label]));
    errors.push(unknownChoice(error, input.subtype, cardType.subtypeKeys, labels));
  }
  if (input.lifecycle) {
    const wrong = checkLifecycle(input.lifecycle);
    errors.push(...(wrong.length > 0 ? wrong : checkLifecycleOrder(mergeLifecycle(null, input.lifecycle))));
  }
  if (input.attributes) {
    for (const error of checkAttributes(cardType.fields, input.attributes)) errors.push(error);
    for (const [key, value] of Object.entries(input.attributes)) {
      const definition = cardType.fields.get(key);
      const isSummed = checks.summed?.includes(key);
      if (!(definition?.readonly || isSummed) || key === LEVEL_FIELD) continue;
      if (sameValue(value, ownValue(checks.stored ?? {}, key))) continue;
      if (isSummed) {
        errors.push(summedError(key));
        continue;
      }
      errors.push(
        definition!.calculated
          ? { field: `attributes.${key}`, code: 'calculated', message: 'is computed by a formula' }
          : { field: `attributes.${key}`, code: 'readonly', message: 'is set by the service alone' },
      );
    }
  }
  return errors.filter((error) => error !== undefined);
}

/** The attribute of cards and relations that is the sum of their costs in the current fiscal year, while they have any. */
export const ANNUAL_COST = 'costTotalAnnual';

/** The error for a written attribute that is a sum. */
export function summedError(key: string): FieldError {
  const field = `attributes.${key}`;
  return key === ANNUAL_COST
    ? { field, code: 'costs_by_period', message: 'is computed from the costs by period' }
    : { field, code: 'sum_of_lines', message: 'is the sum of the lines of the initiative' };
}

/** The error for an invalid input; `costs_by_period` if it only contains sums of costs. */
export function inputError(errors: FieldError[]): EstateError {
  if (!errors.every(({ code }) => code === 'costs_by_period')) return invalidFields(errors);
  const message = `${errors[0]!.field} ${errors[0]!.message}.`;
  return new EstateError('costs_by_period', message, { errors });
}

/**
 * Refuses members that have their own operations.
 * @throws EstateError `use_operation` naming `status` or `approval_status`.
 */
export function refuseOperations(input: { status?: unknown; approval_status?: unknown }): void {
  const status = 'is changed by archiving and restoring';
  const operations = { status, approval_status: 'is changed by the approval-status operation' };
  const errors = Object.entries(operations)
    .filter(([field]) => Object.hasOwn(input, field))
    .map(([field, message]) => ({ field, code: 'use_operation', message }));
  if (errors.length === 0) return;
  throw new EstateError('use_operation', `${errors[0]!.field} ${errors[0]!.message}.`, { errors });
}
