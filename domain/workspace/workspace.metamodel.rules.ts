import Type, { type TSchema } from 'typebox';
import { Value } from 'typebox/value';
import type { FieldError } from '../../platform/errors.ts';
import type { StoredRow } from '../events/row-changes.ts';
import { type CardTypeInput, cleanCardType } from '../metamodel/card-types/card-types.rules.ts';
import {
  type FieldOption,
  fieldTypes,
  type RelationAttribute,
  type Section,
  type Subtype,
} from '../metamodel/metamodel.types.ts';
import { cleanRelationType } from '../metamodel/relation-types/relation-types.rules.ts';

const line = (maxLength: number) => Type.String({ minLength: 1, maxLength, pattern: '\\S' });
const Key = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,99}$' });
const OptionKey = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9_.:+-]{0,99}$' });
const labelled = {
  label: line(200),
  translations: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
};
const Option = Type.Object({
  key: OptionKey,
  color: Type.Optional(Type.String({ maxLength: 50 })),
  ...labelled,
});
const field = {
  key: Key,
  type: Type.Union(fieldTypes.map((type) => Type.Literal(type))),
  options: Type.Optional(Type.Array(Option, { maxItems: 1_000 })),
  ...labelled,
};
const Field = Type.Object({
  ...field,
  weight: Type.Optional(Type.Number({ minimum: 0, maximum: 1_000 })),
  required: Type.Optional(Type.Boolean()),
  readonly: Type.Optional(Type.Boolean()),
});
const CardTypeRow = Type.Object({
  key: Key,
  label: line(200),
  subtypes: Type.Array(
    Type.Object({
      key: OptionKey,
      hidden_fields: Type.Optional(Type.Array(Key, { maxItems: 500 })),
      ...labelled,
    }),
    { maxItems: 500 },
  ),
  fields_schema: Type.Array(
    Type.Object({
      section: line(100),
      fields: Type.Array(Field, { maxItems: 500 }),
      translations: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    }),
    { maxItems: 100 },
  ),
  section_config: Type.Record(Type.String(), Type.Unknown()),
  translations: Type.Record(Type.String(), Type.Unknown()),
});
const RelationTypeRow = Type.Object({
  key: Key,
  label: line(200),
  source_type_key: Key,
  target_type_key: Key,
  attributes_schema: Type.Array(Type.Object(field), { maxItems: 500 }),
  translations: Type.Record(Type.String(), Type.Unknown()),
});
const RoleRow = Type.Object({
  card_type_key: Key,
  key: Type.String({ pattern: '^[a-z][a-z0-9_]{1,48}[a-z0-9]$' }),
  label: line(200),
  permissions: Type.Record(Type.String(), Type.Boolean()),
  translations: Type.Record(Type.String(), Type.Unknown()),
});

function shapeFaults(schema: TSchema, row: StoredRow): FieldError[] {
  const fault = Value.Errors(schema, row)[0];
  if (!fault) return [];
  const path = fault.instancePath.slice(1).replaceAll('/', '.');
  return [{ field: path, code: 'wrong_type', message: fault.message }];
}

/** What is wrong with the definition of a card type, as its own operation would say. */
export function cardTypeFaults(row: StoredRow): FieldError[] {
  const faults = shapeFaults(CardTypeRow, row);
  if (faults.length > 0) return faults;
  const { key, label, translations, fields_schema, subtypes, section_config } =
    row as unknown as CardTypeInput;
  const input = { key, label, translations, fields_schema, subtypes, section_config } as CardTypeInput;
  return cleanCardType(input, { subtypes: [], fields_schema: [], section_config: {} }).faults;
}

/** What is wrong with the definition of a relation type; `types` are the card types that there will be. */
export function relationTypeFaults(row: StoredRow, types: ReadonlySet<string>): FieldError[] {
  const faults = shapeFaults(RelationTypeRow, row);
  if (faults.length > 0) return faults;
  for (const end of ['source_type_key', 'target_type_key'] as const) {
    if (!types.has(row[end] as string)) {
      faults.push({ field: end, code: 'unknown_type', message: 'is no card type' });
    }
  }
  const attributes = row.attributes_schema as RelationAttribute[];
  faults.push(...cleanRelationType({ key: row.key as string, attributes_schema: attributes }, []).faults);
  return faults;
}

/** What is wrong with the definition of a stakeholder role. */
export const stakeholderRoleFaults = (row: StoredRow): FieldError[] => shapeFaults(RoleRow, row);

const keysOf = (items: readonly { key: string }[] = []): Set<string> => new Set(items.map(({ key }) => key));
const lost = (before: ReadonlySet<string>, after: ReadonlySet<string>): string | undefined =>
  [...before].find((key) => !after.has(key));

type Declared = { key: string; type: string; options?: FieldOption[] };

function narrowedFields(before: Declared[], after: Declared[]): string | undefined {
  for (const was of before) {
    const is = after.find(({ key }) => key === was.key);
    if (!is) return `the field ${was.key} would go`;
    if (is.type !== was.type) return `the field ${was.key} would be ${is.type}, not ${was.type}`;
    const option = lost(keysOf(was.options), keysOf(is.options));
    if (option !== undefined) return `the option ${option} of ${was.key} would go`;
  }
  return undefined;
}

/** What values would lose their place, if a type were defined as in the archive; undefined where none would. */
export function narrows(before: StoredRow, after: StoredRow): string | undefined {
  if ('attributes_schema' in before) {
    const ends = ['source_type_key', 'target_type_key', 'cardinality'].find(
      (end) => before[end] !== after[end],
    );
    if (ends !== undefined) return `${ends} would be another`;
    return narrowedFields(before.attributes_schema as Declared[], after.attributes_schema as Declared[]);
  }
  const fields = (row: StoredRow) => (row.fields_schema as Section[]).flatMap((section) => section.fields);
  const subtype = lost(keysOf(before.subtypes as Subtype[]), keysOf(after.subtypes as Subtype[]));
  return subtype === undefined
    ? narrowedFields(fields(before), fields(after))
    : `the subtype ${subtype} would go`;
}
