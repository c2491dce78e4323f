import { type FieldError, invalidFields } from '../../../../platform/errors.ts';
import { isUuid } from '../../../../platform/uuid.ts';
import type { CardType, Metamodel } from '../../../kernel/metamodel/metamodel.compile.ts';
import type { StoredCard } from '../cards.load.ts';
import { summedKeys } from '../cards.rows.ts';
import type { CardInput, CardValues } from '../rules/diff.ts';
import { patchedValues } from '../rules/merge.ts';
import { checkLifecycleOrder, cleanCardInput, inputError, validateCardInput } from '../rules/values.ts';

/** Where the value of a field comes from: one of the cards, by its id, or a given value. */
type FieldChoice = string | { value: unknown };

/** Choices by field: `name`, `lifecycle` as a whole, `attributes.<key>` etc. */
export type FieldChoices = Record<string, FieldChoice>;

const fields = ['name', 'subtype', 'alias', 'description', 'external_id', 'parent_id', 'lifecycle'] as const;
type Field = (typeof fields)[number];
const ATTRIBUTE = 'attributes.';

/**
 * The columns that are taken from other cards if the survivor has no value. Its parent is always its own, also if it is
 * a root.
 */
const lent = ['subtype', 'alias', 'description', 'external_id'] as const;

/**
 * The values of the survivor without choices: its own, and those that it lacks from the first of the others that has
 * them. Values that the service sets are never taken from others.
 */
function lentValues(type: CardType, survivor: StoredCard, others: StoredCard[]): CardValues {
  const values: Record<string, unknown> = {};
  for (const field of lent) {
    values[field] = survivor[field] ?? others.find((card) => card[field] !== null)?.[field] ?? null;
  }
  const attributes = new Map(Object.entries(survivor.attributes));
  for (const card of others) {
    for (const [key, value] of Object.entries(card.attributes)) {
      if (!attributes.has(key) && !type.fields.get(key)?.readonly) attributes.set(key, value);
    }
  }
  const lifecycle = lentLifecycle(survivor, others);
  return { ...survivor, ...values, lifecycle, attributes: Object.fromEntries(attributes) };
}

/** The survivor's phases, and those that it lacks from others, as long as the phases remain in order. */
function lentLifecycle(survivor: StoredCard, others: StoredCard[]): CardValues['lifecycle'] {
  let lifecycle = survivor.lifecycle;
  for (const card of others) {
    for (const [phase, day] of Object.entries(card.lifecycle ?? {})) {
      const extended = { [phase]: day, ...lifecycle };
      if (checkLifecycleOrder(extended).length === 0) lifecycle = extended;
    }
  }
  return lifecycle;
}

/** The patch that results from the choices. @throws EstateError naming each choice that is not valid. */
export function chosenInput(choices: FieldChoices, cards: ReadonlyMap<string, StoredCard>): CardInput {
  const errors: FieldError[] = [];
  const input: Record<string, unknown> = {};
  const attributes: Record<string, unknown> = {};
  for (const [name, choice] of Object.entries(choices)) {
    const field = `fields.${name}`;
    const key = name.startsWith(ATTRIBUTE) ? name.slice(ATTRIBUTE.length) : undefined;
    if (!key && !fields.includes(name as Field)) {
      errors.push({ field, code: 'unknown_field', message: 'is no field that can be chosen' });
      continue;
    }
    const card = typeof choice === 'string' ? cards.get(choice.toLowerCase()) : undefined;
    if (typeof choice === 'string' && !card) {
      errors.push({ field, code: 'unknown_card', message: 'is none of the cards that are merged' });
      continue;
    }
    const value = card
      ? key
        ? (card.attributes[key] ?? null)
        : card[name as Field]
      : (choice as { value: unknown }).value;
    if (key) attributes[key] = value;
    else if (fits(name as Field, value)) input[name] = wholeLifecycle(name, value);
    else errors.push({ field, code: 'wrong_type', message: 'has a value of another type' });
  }
  if (typeof input.parent_id === 'string' && !isUuid(input.parent_id)) {
    errors.push({ field: 'fields.parent_id', code: 'format', message: 'is no card id' });
  }
  if (errors.length > 0) throw invalidFields(errors);
  if (Object.keys(attributes).length > 0) input.attributes = attributes;
  return cleanCardInput(input as CardInput);
}

function fits(field: Field, value: unknown): boolean {
  if (value === null) return true;
  return field === 'lifecycle'
    ? typeof value === 'object' && !Array.isArray(value)
    : typeof value === 'string';
}

/** A lifecycle is taken as a whole, not merged phase by phase. */
function wholeLifecycle(field: string, value: unknown): unknown {
  if (field !== 'lifecycle' || value === null) return value;
  return { plan: null, phaseIn: null, active: null, phaseOut: null, endOfLife: null, ...(value as object) };
}

/**
 * The survivor's values after the merge, except its parent and its level.
 * @throws EstateError `validation_failed` naming `fields.<field>`; `costs_by_period`.
 */
export function survivingValues(
  metamodel: Metamodel,
  type: CardType,
  survivor: StoredCard,
  others: StoredCard[],
  input: CardInput,
): CardValues {
  const summed = [survivor, ...others].flatMap((card) => summedKeys(type, card));
  const errors = validateCardInput(metamodel, type.key, input, { stored: survivor.attributes, summed });
  const values = patchedValues(lentValues(type, survivor, others), input);
  if (errors.length === 0) errors.push(...checkLifecycleOrder(values.lifecycle));
  if (errors.length > 0) {
    throw inputError(errors.map((error) => ({ ...error, field: `fields.${error.field}` })));
  }
  return values;
}
