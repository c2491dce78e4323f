import type { FieldError } from '../../../../platform/errors.ts';
import type { RelationTypeRow } from '../../../kernel/metamodel/metamodel.model.ts';
import type { RelationAttribute } from '../../../kernel/metamodel/metamodel.types.ts';
import { cleanOptions, translationsOf, unique } from '../card-types/card-types.rules.ts';
import { cleanDeprecation, deprecationIn } from '../deprecation.rules.ts';
import { cleanTranslations } from '../metamodel.list.ts';

/** The members of a relation type that a client sets; `key` only at creation. */
export type RelationTypeInput = Partial<
  Omit<RelationTypeRow, 'built_in' | 'translations' | 'created_at' | 'updated_at'>
> & { translations?: unknown };

/** A built-in part that the input would change or remove. */
export interface BuiltInChange {
  attribute: string;
  option?: string;
}

/** The columns of a relation type on which a change of it depends. */
export type RelationTypeState = Pick<RelationTypeRow, 'attributes_schema' | 'deprecation'>;

/**
 * The columns that the input sets, in their stored form, all errors, and the built-in attributes that it would change:
 * of these only translations may change, and options may be hidden. `built_in` in the input is ignored.
 */
export function cleanRelationType(
  input: RelationTypeInput,
  { attributes_schema: before, deprecation }: RelationTypeState,
): { values: Partial<RelationTypeRow>; errors: FieldError[]; frozen: BuiltInChange[] } {
  const errors: FieldError[] = [];
  const { translations, ...sent } = input;
  const values: Partial<RelationTypeRow> = { ...sent };
  if (input.key !== undefined) unique(new Set(), input.key, 'key', errors);
  if (input.label !== undefined) values.label = input.label.trim();
  if (typeof input.reverse_label === 'string') values.reverse_label = input.reverse_label.trim() || null;
  if (translations !== undefined) {
    const members = ['label', 'reverse_label', 'description'];
    values.translations = cleanTranslations('translations', translations, members, errors);
  }
  if (input.deprecation)
    values.deprecation = cleanDeprecation(input.deprecation, deprecation, 'deprecation', errors);
  let frozen: BuiltInChange[] = [];
  if (input.attributes_schema) {
    const after = cleanAttributes(input.attributes_schema, before, errors);
    values.attributes_schema = after;
    frozen = before.flatMap((attribute) => frozenIn(attribute, after));
  }
  return { values, errors, frozen };
}

function cleanAttributes(
  attributes: RelationAttribute[],
  before: RelationAttribute[],
  errors: FieldError[],
): RelationAttribute[] {
  const keys = new Set<string>();
  return attributes.map((attribute, index): RelationAttribute => {
    const path = `attributes_schema.${index}`;
    const { key, type } = attribute;
    unique(keys, key, `${path}.key`, errors);
    const stored = before.find((other) => other.key === key);
    const { options } = cleanOptions(attribute, stored, path, errors);
    return {
      key,
      label: attribute.label.trim(),
      type,
      built_in: stored?.built_in ?? false,
      ...(options === undefined
        ? {}
        : {
            options: options.map((option) => ({
              ...option,
              built_in: stored?.options?.find((other) => other.key === option.key)?.built_in ?? false,
            })),
          }),
      ...translationsOf(attribute, path, errors),
      ...deprecationIn(attribute, stored, path, errors),
    };
  });
}

function frozenIn(attribute: RelationAttribute, after: RelationAttribute[]): BuiltInChange[] {
  if (!attribute.built_in) return [];
  const now = after.find((other) => other.key === attribute.key);
  if (!now || now.type !== attribute.type || now.label !== attribute.label) {
    return [{ attribute: attribute.key }];
  }
  return (attribute.options ?? []).flatMap((option) => {
    if (!option.built_in) return [];
    const kept = now.options?.find((other) => other.key === option.key);
    const same = kept && kept.label === option.label && (kept.color ?? null) === (option.color ?? null);
    return same ? [] : [{ attribute: attribute.key, option: option.key }];
  });
}
