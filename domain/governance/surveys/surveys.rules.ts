import type { FieldError } from '../../../platform/errors.ts';
import { LEVEL_FIELD } from '../../inventory/cards/rules/capability.ts';
import { type CardInput, ownValue, sameValue } from '../../inventory/cards/rules/diff.ts';
import { mergeAttributes } from '../../inventory/cards/rules/merge.ts';
import { validateCardInput } from '../../inventory/cards/rules/values.ts';
import type { CardType, Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import type { Answer, SurveyAction, SurveyField } from './surveys.model.ts';
import { asksRelations, describeRelations, idErrors, storedIds } from './surveys.relations.ts';

/** A question as the metamodel declares its field or relations now; undefined if users cannot set them. */
export function describeField(
  metamodel: Metamodel,
  type: CardType,
  { key, action }: { key: string; action: SurveyAction },
): SurveyField | undefined {
  if (asksRelations(key)) return describeRelations(metamodel, type, { key, action });
  if (type.fields.get(key)?.readonly || key === LEVEL_FIELD) return undefined;
  for (const { section, fields } of type.fields_schema) {
    const field = fields.find((candidate) => candidate.key === key);
    if (!field) continue;
    const { label, options, translations } = field;
    return {
      key,
      label,
      type: field.type,
      section,
      action,
      ...(options ? { options: options.map((option) => ({ key: option.key, label: option.label })) } : {}),
      ...(translations ? { translations } : {}),
    };
  }
  return undefined;
}

/** The fields of a survey with their declarations; fields that cannot be used are added to `errors`. */
export function describeFields(
  metamodel: Metamodel,
  type: CardType,
  asked: readonly { key: string; action?: SurveyAction }[],
  errors: FieldError[],
): SurveyField[] {
  const seen = new Set<string>();
  return asked.flatMap(({ key, action = 'maintain' }, n) => {
    const field = `fields.${n}.key`;
    const described = describeField(metamodel, type, { key, action });
    if (seen.has(key)) errors.push({ field, code: 'duplicate', message: 'is given twice' });
    else if (asksRelations(key)) {
      const message = `is no relation of ${type.key}`;
      if (!described) errors.push({ field, code: 'unknown_relation', message });
    } else if (!type.fields.has(key)) {
      errors.push({ field, code: 'unknown_attribute', message: `is no attribute of ${type.key}` });
    } else if (!described) {
      errors.push({ field, code: 'readonly', message: 'is set by the service alone' });
    }
    seen.add(key);
    return described ?? [];
  });
}

/** An answer in a request. */
export interface SentAnswer {
  new_value?: unknown;
  confirmed?: boolean;
  /** The current value according to the client. */
  current_value?: unknown;
}

export interface CheckedAnswers {
  answers: Record<string, Answer>;
  errors: FieldError[];
  /** Fields whose value has changed since the form was read. */
  outdated: string[];
}

/**
 * Checks an answer against the fields as they are declared now, and adds the card's values.
 * @param stored its attributes, and ids of related cards by the keys of questions about relations.
 */
export function checkAnswers(
  metamodel: Metamodel,
  type: CardType,
  asked: readonly SurveyField[],
  stored: Record<string, unknown>,
  sent: Record<string, SentAnswer>,
): CheckedAnswers {
  const errors: FieldError[] = [];
  const outdated: string[] = [];
  const answers: [string, Answer][] = [];
  for (const [key, given] of Object.entries(sent)) {
    const field = `responses.${key}`;
    const { confirmed = false } = given;
    const isRelations = asksRelations(key);
    const [new_value, current_value] = [given.new_value, given.current_value].map((value) =>
      isRelations ? storedIds(value) : value,
    );
    const current = ownValue(stored, key);
    if (!asked.some((candidate) => candidate.key === key)) {
      errors.push({ field, code: 'unknown_field', message: 'is not asked for' });
      continue;
    }
    if (current_value !== undefined && !sameValue(current_value, current)) outdated.push(key);
    if (confirmed) {
      if (new_value !== undefined && !sameValue(new_value, current)) {
        const message = 'differs from the value that is confirmed';
        errors.push({ field: `${field}.new_value`, code: 'contradiction', message });
      }
      answers.push([key, { current_value: current, new_value: current, confirmed }]);
    } else if (new_value === undefined) {
      errors.push({ field: `${field}.new_value`, code: 'required', message: 'is missing' });
    } else if (isRelations) {
      errors.push(...idErrors(`${field}.new_value`, new_value));
      answers.push([key, { current_value: current, new_value, confirmed }]);
    } else {
      errors.push(...valueErrors(metamodel, type, key, new_value, stored));
      const cleared = ownValue(mergeAttributes({}, { [key]: new_value }), key);
      answers.push([key, { current_value: current, new_value: cleared, confirmed }]);
    }
  }
  return { answers: Object.fromEntries(answers), errors, outdated };
}

function valueErrors(
  metamodel: Metamodel,
  type: CardType,
  key: string,
  value: unknown,
  stored: Record<string, unknown>,
): FieldError[] {
  const input: CardInput = { attributes: { [key]: value } };
  return validateCardInput(metamodel, type.key, input, { stored }).map((error) => ({
    ...error,
    field: `responses.${key}.new_value`,
  }));
}

/** Why an answer cannot be applied. */
export interface ApplyRefusal {
  code: 'changed_since' | 'value_does_not_fit';
  message: string;
  /** The keys of the fields. */
  fields: string[];
}

/**
 * The attributes after an answer: confirmed values are unchanged, relations left out. Refused if a value is neither what it was when the
 * question was answered nor the answer, or if the answer is no longer valid for its field.
 */
export function applyAnswer(
  metamodel: Metamodel,
  type: CardType,
  attributes: Record<string, unknown>,
  answers: Record<string, Answer>,
): { attributes: Record<string, unknown> } | ApplyRefusal {
  const wanted = Object.entries(answers).filter(([key, { confirmed }]) => !confirmed && !asksRelations(key));
  const keysOf = (entries: typeof wanted) => entries.map(([key]) => key);
  const changed = wanted.filter(([key, { current_value, new_value }]) => {
    const present = ownValue(attributes, key);
    return !sameValue(present, current_value) && !sameValue(present, new_value);
  });
  if (changed.length > 0) {
    const message = 'The card was changed after the question was answered.';
    return { code: 'changed_since', message, fields: keysOf(changed) };
  }
  const unfit = wanted.filter(
    ([key, { new_value }]) =>
      key === LEVEL_FIELD || valueErrors(metamodel, type, key, new_value, attributes).length > 0,
  );
  if (unfit.length > 0) {
    const message = 'The value does not fit the field as it is declared now.';
    return { code: 'value_does_not_fit', message, fields: keysOf(unfit) };
  }
  const values = Object.fromEntries(wanted.map(([key, { new_value }]) => [key, new_value]));
  return { attributes: mergeAttributes(attributes, values) };
}
