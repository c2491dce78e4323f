import Type from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import { type CardTypeInput, cleanCardType } from '../../inventory/metamodel/card-types/card-types.rules.ts';
import {
  Attribute,
  Key,
  Label,
  RoleKey,
  Section as SectionShape,
  Subtype as SubtypeShape,
  Translations,
} from '../../inventory/metamodel/metamodel.input.ts';
import {
  cleanRelationType,
  type RelationTypeInput,
} from '../../inventory/metamodel/relation-types/relation-types.rules.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import type {
  FieldOption,
  RelationAttribute,
  Section,
  Subtype,
} from '../../kernel/metamodel/metamodel.types.ts';
import { OpenObject } from '../../kernel/shapes.ts';
import { shapeErrors } from './workspace.shapes.ts';

const CardTypeRow = Type.Object({
  key: Key,
  label: Label,
  subtypes: Type.Array(SubtypeShape, { maxItems: 200 }),
  fields_schema: Type.Array(SectionShape, { maxItems: 100 }),
  section_config: OpenObject,
  translations: Translations,
});
const RelationTypeRow = Type.Object({
  key: Key,
  label: Label,
  source_type_key: Key,
  target_type_key: Key,
  attributes_schema: Type.Array(Attribute, { maxItems: 200 }),
  translations: Translations,
});
const RoleRow = Type.Object({ card_type_key: Key, key: RoleKey, label: Label });

/** The errors of the definition of a card type, as in its own operation. */
export function cardTypeErrors(row: StoredRow): FieldError[] {
  const faults = shapeErrors(CardTypeRow, row);
  if (faults.length > 0) return faults;
  const { key, label, translations, fields_schema, subtypes, section_config } =
    row as unknown as CardTypeInput;
  const input = { key, label, translations, fields_schema, subtypes, section_config } as CardTypeInput;
  return cleanCardType(input, { subtypes: [], fields_schema: [], section_config: {} }).faults;
}

/** The errors of the definition of a relation type; `types` are the card types after the import. */
export function relationTypeErrors(row: StoredRow, types: ReadonlySet<string>): FieldError[] {
  const faults = shapeErrors(RelationTypeRow, row);
  if (faults.length > 0) return faults;
  for (const end of ['source_type_key', 'target_type_key'] as const) {
    if (!types.has(row[end] as string)) {
      faults.push({ field: end, code: 'unknown_type', message: 'is no card type' });
    }
  }
  const attributes = row.attributes_schema as RelationAttribute[];
  const { key, translations } = row as { key: string; translations: RelationTypeInput['translations'] };
  faults.push(...cleanRelationType({ key, translations, attributes_schema: attributes }, []).faults);
  return faults;
}

/** The errors of the definition of a stakeholder role. */
export const stakeholderRoleErrors = (row: StoredRow): FieldError[] => shapeErrors(RoleRow, row);

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

/** The stored values that would become invalid if a type were defined as in the archive; undefined if none. */
export function findNarrowing(before: StoredRow, after: StoredRow): string | undefined {
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
