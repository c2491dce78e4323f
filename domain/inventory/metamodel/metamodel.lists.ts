import type { ListSpec } from '../../kernel/lists/lists.types.ts';
import { DEFAULT_LANGUAGE, fallbacks } from '../../kernel/metamodel/languages.ts';

/** Expressions that yield labels in one language; in the default language they are the columns themselves. */
export interface Labels {
  /** A text column of the alias with the translations beside it. */
  text(alias: string, column: string): string;
  /** A JSON expression with labelled objects in it. */
  tree(expression: string): string;
}

/** @param language a canonical tag, such as `chooseLanguage` answers: it becomes a part of the SQL. */
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

const sorts = (alias: string, label: string): ListSpec['sorts'] => ({
  key: { sql: `${alias}.key`, type: 'text', immutable: true },
  label: { sql: `fold(${label})`, type: 'text' },
  sort_order: { sql: `${alias}.sort_order`, type: 'numeric' },
});

const byOrder = { defaultSort: 'sort_order', defaultDir: 'asc' } as const;

/** Card types over the alias `t`. */
export function cardTypeList(language: string): ListSpec {
  const labels = labelsIn(language);
  const label = labels.text('t', 'label');
  const roleLabel = labels.text('d', 'label');
  return {
    name: 'card-types',
    from: 'card_types t',
    id: 't.key',
    idType: 'text',
    sorts: sorts('t', label),
    ...byOrder,
    search: `fold(t.key || ' ' || ${label})`,
    members: {
      key: 't.key',
      label,
      description: labels.text('t', 'description'),
      icon: 't.icon',
      color: 't.color',
      category: 't.category',
      has_hierarchy: 't.has_hierarchy',
      has_successors: 't.has_successors',
      subtypes: labels.tree(
        `(select coalesce(jsonb_agg(jsonb_build_object('translations', '{}'::jsonb, 'hidden_fields', '[]'::jsonb) || s
          order by n), '[]') from jsonb_array_elements(t.subtypes) with ordinality as e(s, n))`,
      ),
      fields_schema: labels.tree('t.fields_schema'),
      stakeholder_roles: `(select coalesce(jsonb_agg(jsonb_build_object('key', d.key, 'label', ${roleLabel},
          'color', d.color, 'translations', d.translations) order by d.sort_order, d.key), '[]')
        from stakeholder_role_definitions d where d.card_type_key = t.key and not d.is_archived)`,
      section_config: 't.section_config',
      built_in: 't.built_in',
      is_hidden: 't.is_hidden',
      sort_order: 't.sort_order',
      translations: 't.translations',
    },
  };
}

/** Relation types over the alias `t`, with the types of both ends as `st` and `tt`. */
export function relationTypeList(language: string): ListSpec {
  const labels = labelsIn(language);
  const label = labels.text('t', 'label');
  const reverse = labels.text('t', 'reverse_label');
  return {
    name: 'relation-types',
    from: `relation_types t join card_types st on st.key = t.source_type_key
           join card_types tt on tt.key = t.target_type_key`,
    id: 't.key',
    idType: 'text',
    sorts: sorts('t', label),
    ...byOrder,
    search: `fold(t.key || ' ' || ${label} || ' ' || coalesce(${reverse}, ''))`,
    members: {
      key: 't.key',
      label,
      reverse_label: reverse,
      description: labels.text('t', 'description'),
      source_type_key: 't.source_type_key',
      target_type_key: 't.target_type_key',
      cardinality: 't.cardinality',
      attributes_schema: labels.tree(
        `(select coalesce(jsonb_agg(jsonb_build_object('built_in', false) || a order by n), '[]')
          from jsonb_array_elements(t.attributes_schema) with ordinality as e(a, n))`,
      ),
      source_visible: 't.source_visible',
      source_mandatory: 't.source_mandatory',
      target_visible: 't.target_visible',
      target_mandatory: 't.target_mandatory',
      built_in: 't.built_in',
      is_hidden: 't.is_hidden',
      sort_order: 't.sort_order',
      translations: 't.translations',
    },
  };
}

/** Stakeholder roles of card types over the alias `d`. */
export function roleList(language: string): ListSpec {
  const labels = labelsIn(language);
  const label = labels.text('d', 'label');
  return {
    name: 'stakeholder-role-definitions',
    from: 'stakeholder_role_definitions d',
    id: 'd.id',
    idType: 'uuid',
    sorts: sorts('d', label),
    ...byOrder,
    search: `fold(d.key || ' ' || ${label})`,
    members: {
      id: 'd.id',
      card_type_key: 'd.card_type_key',
      key: 'd.key',
      label,
      description: labels.text('d', 'description'),
      color: 'd.color',
      permissions: 'd.permissions',
      is_archived: 'd.is_archived',
      sort_order: 'd.sort_order',
      created_at: 'utc(d.created_at)',
      updated_at: 'utc(d.updated_at)',
      archived_at: 'utc(d.archived_at)',
      archived_by: 'd.archived_by',
      translations: 'd.translations',
    },
  };
}
