import { checkText } from '../../domain/inventory/cards/rules/text.ts';
import { checkValue } from '../../domain/inventory/cards/rules/values.ts';
import type { CardType, CompiledField } from '../../domain/kernel/metamodel/metamodel.compile.ts';
import type { FieldType } from '../../domain/kernel/metamodel/metamodel.types.ts';

/** A field as the model is told of it. */
export interface FieldToFill {
  key: string;
  label: string;
  type: string;
  options?: { key: string; label: string }[];
  /** Absent for the description. */
  definition?: CompiledField;
}

/** A few sentences. */
const MAX_DESCRIPTION = 3_000;

/** Characters of all fields together, options and all; those beyond are not suggested. */
const MAX_FIELDS = 100_000;

/** What nobody but the organisation knows, or models make up: amounts, days, addresses. */
const never: ReadonlySet<FieldType> = new Set(['cost', 'date', 'url', 'multiple_select']);

/** What can be suggested for a card of the type: the description, and the attributes that people fill in, by their names in the API. */
export function fieldsToFill(type: CardType, subtype: string | null): Map<string, FieldToFill> {
  const hidden = subtype === null ? undefined : type.hiddenFields.get(subtype);
  const fields: FieldToFill[] = [{ key: 'description', label: 'Description', type: 'text' }];
  for (const definition of type.fields.values()) {
    const { key, label, type: kind, readonly, optionLabels } = definition;
    if (readonly || never.has(kind) || hidden?.has(key)) continue;
    fields.push({
      key: `attributes.${key}`,
      label,
      type: kind,
      ...(optionLabels.size === 0
        ? {}
        : { options: [...optionLabels].map(([option, name]) => ({ key: option, label: name })) }),
      definition,
    });
  }
  let length = 0;
  const told = fields.filter(({ definition: _, ...field }) => {
    length += JSON.stringify(field).length;
    return length <= MAX_FIELDS;
  });
  return new Map(told.map((field) => [field.key, field]));
}

/** Why a suggested value is not passed on, or undefined. Links and markup are what a hostile text would have a reader follow. */
export function valueFault({ definition }: FieldToFill, value: unknown): string | undefined {
  if (typeof value === 'string' && definition?.type !== 'single_select') {
    if (value === '') return 'is empty';
    if (/:\/\/|\bwww\.|<\/?[a-z!]|\]\(|\p{Cf}/iu.test(value)) return 'holds a link or markup';
  }
  if (!definition) {
    if (typeof value !== 'string') return 'is no text';
    return checkText('description', value, MAX_DESCRIPTION)?.message;
  }
  return checkValue(definition, definition.key, value)?.message;
}
