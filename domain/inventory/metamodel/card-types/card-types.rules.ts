import type { FieldError } from '../../../../platform/errors.ts';
import { today } from '../../../kernel/dates.ts';
import type { CardTypeRow } from '../../../kernel/metamodel/metamodel.model.ts';
import type {
  Alias,
  Field,
  FieldOption,
  Section,
  Subtype,
} from '../../../kernel/metamodel/metamodel.types.ts';
import { isObject } from '../../../kernel/shapes.ts';
import { cleanDeprecation, deprecationIn } from '../deprecation.rules.ts';
import { cleanTranslations } from '../metamodel.list.ts';

/** The members of a card type that a client sets; `key` only at creation. */
export type CardTypeInput = Partial<
  Omit<CardTypeRow, 'built_in' | 'translations' | 'created_at' | 'updated_at'>
> & {
  stakeholder_roles?: { key: string; label: string; color?: string; translations?: unknown }[];
  translations?: unknown;
};

/** The columns of a card type that depend on each other. */
export type CardTypeState = Pick<
  CardTypeRow,
  'subtypes' | 'fields_schema' | 'section_config' | 'deprecation'
>;

const MAX_FIELDS = 500;

/** The members of a card type that have translations. */
const translatedMembers = ['label', 'plural', 'description', 'category'] as const;

/** Members that every card has besides its attributes; they cannot be used as keys of fields. */
const cardMembers: ReadonlySet<string> = new Set([
  'id',
  'type',
  'subtype',
  'name',
  'alias',
  'description',
  'parent_id',
  'parent_path',
  'parent_external_id',
  'external_id',
  'lifecycle',
  'attributes',
  'status',
  'approval_status',
  'data_quality',
  'archived_at',
  'created_at',
  'created_by',
  'updated_at',
  'updated_by',
  'tags',
  'stakeholders',
  'relations',
  'children',
]);

const selects: ReadonlySet<string> = new Set(['single_select', 'multiple_select']);

/**
 * The columns that the input sets, in their stored form, and all errors. Settings of fields and sections that are
 * removed are removed too, unless they are given as well.
 */
export function cleanCardType(
  input: CardTypeInput,
  before: CardTypeState,
): { values: Partial<CardTypeRow>; errors: FieldError[] } {
  const errors: FieldError[] = [];
  if (input.key !== undefined) unique(new Set(), input.key, 'key', errors);
  const { stakeholder_roles: _roles, translations, ...sent } = input;
  const values: Partial<CardTypeRow> = { ...sent };
  if (input.label !== undefined) values.label = input.label.trim();
  if (translations !== undefined) {
    values.translations = cleanTranslations('translations', translations, translatedMembers, errors);
  }
  if (input.deprecation)
    values.deprecation = cleanDeprecation(input.deprecation, before.deprecation, 'deprecation', errors);
  const sections = input.fields_schema
    ? cleanSections(input.fields_schema, before.fields_schema, errors)
    : before.fields_schema;
  if (input.fields_schema) values.fields_schema = sections;
  const fields = new Set(sections.flatMap((section) => section.fields.map((field) => field.key)));
  if (input.subtypes) values.subtypes = cleanSubtypes(input.subtypes, fields, errors);
  else if (input.fields_schema) values.subtypes = withoutLostFields(before.subtypes, fields);
  const names = new Set(sections.map(({ section }) => section));
  if (input.section_config) errors.push(...checkSectionConfig(input.section_config, names));
  else if (input.fields_schema) {
    const lost = before.fields_schema.map(({ section }) => section).filter((section) => !names.has(section));
    values.section_config = prunedSectionConfig(before.section_config, lost);
  }
  return { values, errors };
}

function withoutLostFields(subtypes: Subtype[], fields: ReadonlySet<string>): Subtype[] {
  return subtypes.map((subtype) =>
    subtype.hidden_fields?.some((key) => !fields.has(key))
      ? { ...subtype, hidden_fields: subtype.hidden_fields.filter((key) => fields.has(key)) }
      : subtype,
  );
}

function cleanSections(sections: Section[], before: readonly Section[], errors: FieldError[]): Section[] {
  const stored = new Map(before.flatMap(({ fields }) => fields).map((field) => [field.key, field]));
  const names = new Set<string>();
  const keys = new Set<string>();
  const clean = sections.map((section, s): Section => {
    const path = `fields_schema.${s}`;
    const name = section.section.trim();
    if (name.startsWith('__')) {
      errors.push({ field: `${path}.section`, code: 'reserved', message: 'must not begin with __' });
    }
    unique(names, name, `${path}.section`, errors);
    return {
      section: name,
      ...(section.columns === undefined ? {} : { columns: section.columns }),
      ...(section.groups === undefined ? {} : { groups: section.groups }),
      ...translationsOf(section, path, errors),
      fields: section.fields.map((field, f) =>
        cleanField(field, `${path}.fields.${f}`, keys, stored.get(field.key), errors),
      ),
    };
  });
  for (const [s, { fields }] of clean.entries())
    for (const [f, { aliases = [] }] of fields.entries())
      for (const [a, { key }] of aliases.entries())
        unique(keys, key, `fields_schema.${s}.fields.${f}.aliases.${a}.key`, errors);
  if (keys.size > MAX_FIELDS) {
    errors.push({ field: 'fields_schema', code: 'too_many', message: `has more than ${MAX_FIELDS} fields` });
  }
  return clean;
}

function cleanField(
  field: Field,
  path: string,
  keys: Set<string>,
  stored: Field | undefined,
  errors: FieldError[],
): Field {
  const { key, type } = field;
  unique(keys, key, `${path}.key`, errors);
  if (cardMembers.has(key)) {
    const message = 'is the name of something that every card has';
    errors.push({ field: `${path}.key`, code: 'reserved', message });
  }
  return {
    key,
    label: field.label.trim(),
    type,
    weight: field.weight ?? 1,
    required: field.required ?? false,
    readonly: field.readonly ?? false,
    ...cleanOptions(field, stored, path, errors),
    ...translationsOf(field, path, errors),
    ...deprecationIn(field, stored, path, errors),
    ...cleanAliases(field, stored, path, errors),
  };
}

/** The former keys of a part, but for those whose removal has come. */
function cleanAliases(
  { aliases = [] }: { aliases?: Alias[] },
  stored: { aliases?: Alias[] } | undefined,
  path: string,
  errors: FieldError[],
): { aliases?: Alias[] } {
  const kept = aliases.map((alias, n) => {
    const known = stored?.aliases?.find(({ key }) => key === alias.key);
    const at = `${path}.aliases.${n}.deprecation`;
    return {
      key: alias.key,
      deprecation: cleanDeprecation(alias.deprecation, known?.deprecation, at, errors),
    };
  });
  const valid = kept.filter(({ deprecation }) => deprecation.removal > today());
  return valid.length > 0 ? { aliases: valid } : {};
}

/** The options of a field or relation attribute: required for selects, not allowed for other types. */
export function cleanOptions<O extends FieldOption>(
  field: { type: string; options?: O[] },
  stored: { options?: FieldOption[] } | undefined,
  path: string,
  errors: FieldError[],
): { options?: O[] } {
  const options = field.options ?? [];
  const at = `${path}.options`;
  if (!selects.has(field.type)) {
    if (options.length > 0)
      errors.push({ field: at, code: 'not_offered', message: 'belong to selects only' });
    return {};
  }
  if (options.length === 0) errors.push({ field: at, code: 'required', message: 'a select needs options' });
  const keys = new Set<string>();
  const clean = options.map((option, o) => {
    unique(keys, option.key, `${at}.${o}.key`, errors);
    const known = stored?.options?.find(({ key }) => key === option.key);
    const { aliases: _given, ...sent } = option;
    return {
      ...(sent as O),
      label: option.label.trim(),
      ...translationsOf(option, `${at}.${o}`, errors),
      ...deprecationIn(option, known, `${at}.${o}`, errors),
      ...cleanAliases(option, known, `${at}.${o}`, errors),
    };
  });
  for (const [o, { aliases = [] }] of clean.entries())
    for (const [a, { key }] of aliases.entries()) unique(keys, key, `${at}.${o}.aliases.${a}.key`, errors);
  return { options: clean };
}

function cleanSubtypes(subtypes: Subtype[], fields: ReadonlySet<string>, errors: FieldError[]): Subtype[] {
  const keys = new Set<string>();
  return subtypes.map((subtype, s) => {
    const path = `subtypes.${s}`;
    unique(keys, subtype.key, `${path}.key`, errors);
    const hidden = new Set<string>();
    (subtype.hidden_fields ?? []).forEach((key, f) => {
      const field = `${path}.hidden_fields.${f}`;
      if (!fields.has(key))
        errors.push({ field, code: 'unknown_field', message: 'is no field of this type' });
      unique(hidden, key, field, errors);
    });
    return { ...subtype, label: subtype.label.trim(), ...translationsOf(subtype, path, errors) };
  });
}

/** Records that a key is used; keys become property names, so names of Object.prototype are refused. */
export function unique(keys: Set<string>, key: string, field: string, errors: FieldError[]): void {
  if (key in {}) errors.push({ field, code: 'reserved', message: 'is a reserved name' });
  if (keys.has(key)) errors.push({ field, code: 'duplicate', message: 'occurs twice' });
  keys.add(key);
}

/** The translations of a labelled object, if any. */
export function translationsOf(
  object: { translations?: unknown },
  path: string,
  errors: FieldError[],
): { translations?: Record<string, unknown> } {
  if (object.translations === undefined) return {};
  return { translations: cleanTranslations(`${path}.translations`, object.translations, ['label'], errors) };
}

const QUALITY = '__dataQuality';
const ORDER = '__order';
const MAX_WEIGHT = 1_000;
const buckets: ReadonlySet<string> = new Set([
  'description',
  'lifecycle',
  'relations',
  'tags',
  'stakeholders',
]);

/** Parts of a card's page that every type has, besides the sections of its fields. */
const commonParts: ReadonlySet<string> = new Set([
  'description',
  'lifecycle',
  'eol',
  'hierarchy',
  'successors',
  'relations',
  'tags',
  'stakeholders',
  'documents',
  'files',
  'comments',
  'todos',
  'risks',
  'history',
]);

/**
 * Checks how the sections of a type are displayed: `{<section>: {defaultExpanded, hidden}, __order: [section],
 * __dataQuality: {<part>: weight}}`.
 */
function checkSectionConfig(config: Record<string, unknown>, sections: ReadonlySet<string>): FieldError[] {
  const errors: FieldError[] = [];
  const error = (field: string, code: string, message: string) =>
    void errors.push({ field: `section_config.${field}`, code, message });
  const known = (name: unknown) =>
    typeof name === 'string' && (sections.has(name) || commonParts.has(name.replace(/^__/, '')));
  for (const [key, value] of Object.entries(config)) {
    if (key === QUALITY) checkWeights(value, error);
    else if (key === ORDER) {
      if (!Array.isArray(value) || !value.every(known))
        error(key, 'unknown_section', 'must be a list of sections');
      else if (new Set(value).size < value.length) error(key, 'duplicate', 'names a section twice');
    } else if (!known(key)) error(key, 'unknown_section', 'is no section of this type');
    else if (!isObject(value)) error(key, 'wrong_type', 'must be an object');
    else {
      for (const [name, flag] of Object.entries(value)) {
        if (name !== 'defaultExpanded' && name !== 'hidden') {
          error(`${key}.${name}`, 'unknown_field', 'is not a known field');
        } else if (typeof flag !== 'boolean') error(`${key}.${name}`, 'wrong_type', 'must be true or false');
      }
    }
  }
  return errors;
}

function checkWeights(value: unknown, error: (field: string, code: string, message: string) => void): void {
  if (!isObject(value)) {
    error(QUALITY, 'wrong_type', 'must be an object');
    return;
  }
  for (const [name, weight] of Object.entries(value)) {
    const field = `${QUALITY}.${name}`;
    if (!buckets.has(name)) error(field, 'unknown_field', `is none of ${[...buckets].join(', ')}`);
    else if (typeof weight !== 'number' || !(weight >= 0 && weight <= MAX_WEIGHT)) {
      error(field, 'out_of_range', `must be a number from 0 to ${MAX_WEIGHT}`);
    }
  }
}

/** The configuration without removed sections. */
function prunedSectionConfig(
  config: Record<string, unknown>,
  gone: readonly string[],
): Record<string, unknown> {
  const kept = Object.entries(config).filter(([key]) => !gone.includes(key));
  return Object.fromEntries(
    kept.map(([key, value]) =>
      key === ORDER && Array.isArray(value)
        ? [key, value.filter((name) => !gone.includes(name))]
        : [key, value],
    ),
  );
}
