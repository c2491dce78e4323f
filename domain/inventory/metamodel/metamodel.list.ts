import Type, { type TProperties } from 'typebox';
import { fragment, type Sql } from '../../../platform/database.ts';
import { type FieldError, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers, readItem, runList } from '../../kernel/lists/lists.run.ts';
import type { ItemSpec, JsonText, ListParams, ListSpec } from '../../kernel/lists/lists.types.ts';
import { canonicalLanguage, DEFAULT_LANGUAGE, fallbacks } from '../../kernel/metamodel/languages.ts';
import {
  CardTypeDefinition,
  RelationTypeDefinition,
  StakeholderRoleDefinition,
} from '../../kernel/metamodel/metamodel.model.ts';
import type { Translations } from '../../kernel/metamodel/metamodel.types.ts';
import { Key, type StaticOf } from '../../kernel/shapes.ts';

const MAX_LANGUAGES = 100;
const MAX_TEXT = 10_000;

/**
 * Translations in their stored form, with canonical language tags: `{language: text}` for the label alone, or `{member:
 * {language: text}}` for the members of the object. Adds errors to `faults`.
 */
export function cleanTranslations(
  field: string,
  value: unknown,
  members: readonly string[],
  errors: FieldError[],
): Translations {
  const clean: Translations = {};
  for (const [key, part] of entries(value)) {
    if (typeof part === 'string') addText(clean, field, key, part, errors);
    else if (members.includes(key) && isObject(part)) {
      const texts: Translations = {};
      for (const [language, text] of entries(part)) addText(texts, `${field}.${key}`, language, text, errors);
      clean[key] = texts;
    } else {
      const known = members.length > 0 ? `, or one of ${members.join(', ')} with texts by language` : '';
      errors.push({
        field: `${field}.${key}`,
        code: 'bad_translation',
        message: `must be a text by language${known}`,
      });
    }
  }
  if (Object.keys(clean).length > MAX_LANGUAGES) {
    errors.push({ field, code: 'too_many', message: `has more than ${MAX_LANGUAGES} languages` });
  }
  return clean;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const entries = (value: unknown): [string, unknown][] => (isObject(value) ? Object.entries(value) : []);

function addText(into: Translations, field: string, tag: string, text: unknown, errors: FieldError[]): void {
  const language = canonicalLanguage(tag);
  const error = (code: string, message: string) =>
    void errors.push({ field: `${field}.${tag}`, code, message });
  if (!language) error('bad_language', 'is no language tag such as de or pt-BR');
  else if (typeof text !== 'string') error('wrong_type', 'must be a text');
  else if (text.trim() === '') error('required', 'must not be blank: leave the language out');
  else if (text.length > MAX_TEXT) error('too_long', `has more than ${MAX_TEXT} characters`);
  else into[language] = text.trim();
}

/** SQL expressions for labels in one language; in the default language they are the columns themselves. */
interface Labels {
  /** A text column of the alias, with the translations column. */
  text(alias: string, column: string): string;
  /** A JSON expression that contains labelled objects. */
  tree(expression: string): string;
}

/** @param language a canonical tag, such as `chooseLanguage` returns: it becomes a part of the SQL. */
export function labelsIn(language: string): Labels {
  if (language === DEFAULT_LANGUAGE) {
    return { text: (alias, column) => `${alias}.${column}`, tree: (expression) => expression };
  }
  const wanted = `'{${fallbacks(language).join(',')}}'::text[]`;
  return {
    text: (alias, column) => `localised(${alias}.${column}, ${alias}.translations, '${column}', ${wanted})`,
    tree: (expression) => `localised_tree(${expression}, ${wanted})`,
  };
}

/** The sort fields of the lists, over an alias with the label in the requested language. */
export const definitionSorts = (alias = 't', label = 't.label'): ListSpec['sorts'] => ({
  key: { sql: `${alias}.key`, type: 'text', immutable: true },
  label: { sql: `fold(${label})`, type: 'text' },
  sort_order: { sql: `${alias}.sort_order`, type: 'numeric' },
});

const Include = Type.Boolean({ default: false });
export const typeFilters = { include_hidden: Include };
export const relationTypeFilters = { ...typeFilters, type_key: Type.Optional(Key) };
export const roleFilters = { include_archived: Include };

const byOrder = { defaultSort: 'sort_order' } as const;

/** The members of a definition; its timestamps are internal. */
function shown(alias: string, model: { columns: TProperties }): ListSpec['members'] {
  const { created_at: _created, updated_at: _updated, ...members } = columnMembers(alias, model);
  return members;
}

/** Card types over the alias `t`. */
function cardTypeList(language: string): ListSpec {
  const labels = labelsIn(language);
  const label = labels.text('t', 'label');
  const roleLabel = labels.text('d', 'label');
  return {
    name: 'card-types',
    from: 'card_types t',
    id: 't.key',
    idType: 'text',
    sorts: definitionSorts('t', label),
    ...byOrder,
    search: `fold(t.key || ' ' || ${label})`,
    members: {
      ...shown('t', CardTypeDefinition),
      label,
      description: labels.text('t', 'description'),
      subtypes: labels.tree(
        `(select coalesce(jsonb_agg(jsonb_build_object('translations', '{}'::jsonb, 'hidden_fields', '[]'::jsonb) || s
          order by n), '[]') from jsonb_array_elements(t.subtypes) with ordinality as e(s, n))`,
      ),
      fields_schema: labels.tree('t.fields_schema'),
      stakeholder_roles: `(select coalesce(jsonb_agg(jsonb_build_object('key', d.key, 'label', ${roleLabel},
          'color', d.color, 'translations', d.translations) order by d.sort_order, d.key), '[]')
        from stakeholder_role_definitions d where d.card_type_key = t.key and not d.is_archived)`,
    },
  };
}

/** Relation types over the alias `t`, with the types of both ends as `st` and `tt`. */
function relationTypeList(language: string): ListSpec {
  const labels = labelsIn(language);
  const label = labels.text('t', 'label');
  const reverse = labels.text('t', 'reverse_label');
  return {
    name: 'relation-types',
    from: `relation_types t join card_types st on st.key = t.source_type_key
           join card_types tt on tt.key = t.target_type_key`,
    id: 't.key',
    idType: 'text',
    sorts: definitionSorts('t', label),
    filters: { type_key: '? in (t.source_type_key, t.target_type_key)' },
    ...byOrder,
    search: `fold(t.key || ' ' || ${label} || ' ' || coalesce(${reverse}, ''))`,
    members: {
      ...shown('t', RelationTypeDefinition),
      label,
      reverse_label: reverse,
      description: labels.text('t', 'description'),
      attributes_schema: labels.tree(
        `(select coalesce(jsonb_agg(jsonb_build_object('built_in', false) || a order by n), '[]')
          from jsonb_array_elements(t.attributes_schema) with ordinality as e(a, n))`,
      ),
    },
  };
}

/** Stakeholder roles of card types over the alias `d`. */
function roleList(language: string): ListSpec {
  const labels = labelsIn(language);
  const label = labels.text('d', 'label');
  return {
    name: 'stakeholder-role-definitions',
    from: 'stakeholder_role_definitions d',
    id: 'd.id',
    sorts: definitionSorts('d', label),
    ...byOrder,
    search: `fold(d.key || ' ' || ${label})`,
    members: {
      ...columnMembers('d', StakeholderRoleDefinition),
      label,
      description: labels.text('d', 'description'),
    },
  };
}

/** The card types, labels in the language; hidden ones only when asked for. */
export async function listCardTypes(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof typeFilters>,
  language: string,
): Promise<JsonText> {
  const conditions = params.include_hidden ? [] : [fragment`not t.is_hidden`];
  return await runList(ctx, cardTypeList(language), conditions, params);
}

/** The relation types, of one card type on either side where `type_key` is given. */
export async function listRelationTypes(
  ctx: Ctx,
  params: ListParams & StaticOf<typeof relationTypeFilters>,
  language: string,
): Promise<JsonText> {
  const conditions = params.include_hidden
    ? []
    : [fragment`not (t.is_hidden or st.is_hidden or tt.is_hidden)`];
  return await runList(ctx, relationTypeList(language), conditions, params);
}

/** The stakeholder roles of one card type. @throws EstateError `not_found` for an unknown type. */
export async function listStakeholderRoleDefinitions(
  ctx: Ctx,
  typeKey: string,
  params: ListParams & StaticOf<typeof roleFilters>,
  language: string,
): Promise<JsonText> {
  if (!ctx.metamodel.cardTypes.has(typeKey)) throw notFound('card type', typeKey);
  const conditions = [{ sql: 'd.card_type_key = ?', bindings: [typeKey] as unknown[] }];
  if (!params.include_archived) conditions.push(fragment`not d.is_archived`);
  return await runList(ctx, roleList(language), conditions, params);
}

/** One card type, hidden or not. @throws EstateError `not_found`. */
export async function readCardType(sql: Sql, key: string, language: string): Promise<JsonText> {
  return await readItem(sql, cardTypeList(language), 'card type', key);
}

/** One relation type, hidden or not. @throws EstateError `not_found`. */
export async function readRelationType(sql: Sql, key: string, language: string): Promise<JsonText> {
  return await readItem(sql, relationTypeList(language), 'relation type', key);
}

/** One stakeholder role with the number of assignments. @throws EstateError `not_found`. */
export async function readStakeholderRoleDefinition(
  sql: Sql,
  typeKey: string,
  roleKey: string,
  language: string,
): Promise<JsonText> {
  const { from, members } = roleList(language);
  const spec: ItemSpec = {
    from,
    id: `d.card_type_key || '/' || d.key`,
    idType: 'text',
    members: {
      ...members,
      stakeholder_count: `(select count(*) from stakeholders s join cards c on c.id = s.card_id
        where s.role = d.key and c.type = d.card_type_key)`,
    },
  };
  return await readItem(sql, spec, 'stakeholder role', `${typeKey}/${roleKey}`);
}
