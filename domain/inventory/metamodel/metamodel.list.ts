import Type from 'typebox';
import { fragment, type Sql } from '../../../platform/database.ts';
import { type FieldError, fieldError, notFound } from '../../../platform/errors.ts';
import { defineLabelled, defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, readItem } from '../../kernel/lists/lists.run.ts';
import type { ItemSpec, JsonText, ListSpec } from '../../kernel/lists/lists.types.ts';
import { canonicalLanguage, DEFAULT_LANGUAGE, fallbacks } from '../../kernel/metamodel/languages.ts';
import {
  CardTypeDefinition,
  RelationTypeDefinition,
  StakeholderRoleDefinition,
} from '../../kernel/metamodel/metamodel.model.ts';
import type { Translations } from '../../kernel/metamodel/metamodel.types.ts';
import { isObject, Key } from '../../kernel/shapes.ts';

const MAX_LANGUAGES = 100;
const MAX_TEXT = 10_000;

/**
 * Translations in their stored form, with canonical language tags: `{language: text}` for the label alone, or `{member:
 * {language: text}}` for the members of the object. Adds errors to `errors`.
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
      errors.push(fieldError(`${field}.${key}`, 'bad_translation', `must be a text by language${known}`));
    }
  }
  if (Object.keys(clean).length > MAX_LANGUAGES) {
    errors.push({ field, code: 'too_many', message: `has more than ${MAX_LANGUAGES} languages` });
  }
  return clean;
}

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
const definitionSorts = (alias: string, label: string): ListSpec['sorts'] => ({
  key: { sql: `${alias}.key`, type: 'text', immutable: true },
  label: { sql: `fold(${label})`, type: 'text' },
  sort_order: { sql: `${alias}.sort_order`, type: 'numeric' },
});

const Include = Type.Boolean({ default: false });
const byOrder = { defaultSort: 'sort_order' } as const;

/** Card types over the alias `t`. */
function cardTypes(language: string) {
  const labels = labelsIn(language);
  const label = labels.text('t', 'label');
  const roleLabel = labels.text('d', 'label');
  return defineList({
    name: 'card-types',
    from: 'card_types t',
    id: 't.key',
    idType: 'text',
    sorts: definitionSorts('t', label),
    filters: { include_hidden: Include },
    ...byOrder,
    search: `fold(t.key || ' ' || ${label})`,
    members: {
      ...columnMembers('t', CardTypeDefinition.shown),
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
    where: (_ctx, { include_hidden }) => (include_hidden ? [] : [fragment`not t.is_hidden`]),
  });
}

/** The card types; hidden ones only when asked for. */
export const cardTypeList = defineLabelled(cardTypes);

/** Relation types over the alias `t`, with the types of both ends as `st` and `tt`. */
function relationTypes(language: string) {
  const labels = labelsIn(language);
  const label = labels.text('t', 'label');
  const reverse = labels.text('t', 'reverse_label');
  return defineList({
    name: 'relation-types',
    from: `relation_types t join card_types st on st.key = t.source_type_key
           join card_types tt on tt.key = t.target_type_key`,
    id: 't.key',
    idType: 'text',
    sorts: definitionSorts('t', label),
    filters: {
      include_hidden: Include,
      type_key: [Key, '? in (t.source_type_key, t.target_type_key)'],
    },
    ...byOrder,
    search: `fold(t.key || ' ' || ${label} || ' ' || coalesce(${reverse}, ''))`,
    members: {
      ...columnMembers('t', RelationTypeDefinition.shown),
      label,
      reverse_label: reverse,
      description: labels.text('t', 'description'),
      attributes_schema: labels.tree(
        `(select coalesce(jsonb_agg(jsonb_build_object('built_in', false) || a order by n), '[]')
          from jsonb_array_elements(t.attributes_schema) with ordinality as e(a, n))`,
      ),
    },
    where: (_ctx, { include_hidden }) =>
      include_hidden ? [] : [fragment`not (t.is_hidden or st.is_hidden or tt.is_hidden)`],
  });
}

/** The relation types; those with a hidden end only when asked for. */
export const relationTypeList = defineLabelled(relationTypes);

/** Stakeholder roles of card types over the alias `d`. */
function roles(language: string) {
  const labels = labelsIn(language);
  const label = labels.text('d', 'label');
  return defineList({
    name: 'stakeholder-role-definitions',
    from: 'stakeholder_role_definitions d',
    id: 'd.id',
    sorts: definitionSorts('d', label),
    filters: { include_archived: Include },
    ...byOrder,
    search: `fold(d.key || ' ' || ${label})`,
    members: {
      ...columnMembers('d', StakeholderRoleDefinition),
      label,
      description: labels.text('d', 'description'),
    },
    where(ctx, { include_archived }, typeKey) {
      if (!ctx.metamodel.cardTypes.has(typeKey)) throw notFound('card type', typeKey);
      const ofType = fragment`d.card_type_key = ${typeKey}`;
      return include_archived ? [ofType] : [ofType, fragment`not d.is_archived`];
    },
  });
}

/** The stakeholder roles of the card type whose key is in the path. */
export const roleDefinitionList = defineLabelled(roles);

/** One card type, hidden or not. @throws EstateError `not_found`. */
export async function readCardType(sql: Sql, key: string, language: string): Promise<JsonText> {
  return await readItem(sql, cardTypes(language), 'card type', key);
}

/** One relation type, hidden or not. @throws EstateError `not_found`. */
export async function readRelationType(sql: Sql, key: string, language: string): Promise<JsonText> {
  return await readItem(sql, relationTypes(language), 'relation type', key);
}

/** One stakeholder role with the number of assignments. @throws EstateError `not_found`. */
export async function readStakeholderRoleDefinition(
  sql: Sql,
  typeKey: string,
  roleKey: string,
  language: string,
): Promise<JsonText> {
  const { from, members } = roles(language);
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
