import { type EstateError, notFound } from '../../platform/errors.ts';
import type { Ctx } from '../context.ts';
import { runList } from '../lists/lists.run.ts';
import type { JsonText, ListParams, ListSpec } from '../lists/lists.types.ts';

const cardTypeList: ListSpec = {
  name: 'card-types',
  from: 'card_types t',
  id: 't.key',
  idType: 'text',
  sorts: {
    key: { sql: 't.key', type: 'text', immutable: true },
    label: { sql: 'fold(t.label)', type: 'text' },
    sort_order: { sql: 't.sort_order', type: 'numeric' },
  },
  defaultSort: 'sort_order',
  defaultDir: 'asc',
  search: "fold(t.key || ' ' || t.label)",
  members: {
    key: 't.key',
    label: 't.label',
    description: 't.description',
    icon: 't.icon',
    color: 't.color',
    category: 't.category',
    has_hierarchy: 't.has_hierarchy',
    has_successors: 't.has_successors',
    subtypes: `(select coalesce(jsonb_agg(jsonb_build_object('translations', '{}'::jsonb, 'hidden_fields', '[]'::jsonb) || s
        order by n), '[]') from jsonb_array_elements(t.subtypes) with ordinality as e(s, n))`,
    fields_schema: 't.fields_schema',
    stakeholder_roles: `(select coalesce(jsonb_agg(jsonb_build_object('key', d.key, 'label', d.label,
        'color', d.color, 'translations', d.translations) order by d.sort_order, d.key), '[]')
      from stakeholder_role_definitions d where d.card_type_key = t.key and not d.is_archived)`,
    section_config: 't.section_config',
    built_in: 't.built_in',
    is_hidden: 't.is_hidden',
    sort_order: 't.sort_order',
    translations: 't.translations',
  },
};

const relationTypeList: ListSpec = {
  name: 'relation-types',
  from: `relation_types t join card_types st on st.key = t.source_type_key
         join card_types tt on tt.key = t.target_type_key`,
  id: 't.key',
  idType: 'text',
  sorts: {
    key: { sql: 't.key', type: 'text', immutable: true },
    label: { sql: 'fold(t.label)', type: 'text' },
    sort_order: { sql: 't.sort_order', type: 'numeric' },
  },
  defaultSort: 'sort_order',
  defaultDir: 'asc',
  search: "fold(t.key || ' ' || t.label || ' ' || coalesce(t.reverse_label, ''))",
  members: {
    key: 't.key',
    label: 't.label',
    reverse_label: 't.reverse_label',
    description: 't.description',
    source_type_key: 't.source_type_key',
    target_type_key: 't.target_type_key',
    cardinality: 't.cardinality',
    attributes_schema: `(select coalesce(jsonb_agg(jsonb_build_object('built_in', t.built_in) || a order by n), '[]')
      from jsonb_array_elements(t.attributes_schema) with ordinality as e(a, n))`,
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

const roleList: ListSpec = {
  name: 'stakeholder-role-definitions',
  from: 'stakeholder_role_definitions d',
  id: 'd.id',
  idType: 'uuid',
  sorts: {
    key: { sql: 'd.key', type: 'text', immutable: true },
    label: { sql: 'fold(d.label)', type: 'text' },
    sort_order: { sql: 'd.sort_order', type: 'numeric' },
  },
  defaultSort: 'sort_order',
  defaultDir: 'asc',
  search: "fold(d.key || ' ' || d.label)",
  members: {
    id: 'd.id',
    card_type_key: 'd.card_type_key',
    key: 'd.key',
    label: 'd.label',
    description: 'd.description',
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

/** The card types; hidden ones only when asked for. */
export async function listCardTypes(
  ctx: Ctx,
  params: ListParams & { include_hidden: boolean },
): Promise<JsonText> {
  const conditions = params.include_hidden ? [] : [{ sql: 'not t.is_hidden', bindings: [] }];
  return await runList(ctx.db, cardTypeList, conditions, params);
}

/** The relation types, of one card type on either side where `type_key` is given. */
export async function listRelationTypes(
  ctx: Ctx,
  params: ListParams & { include_hidden: boolean; type_key?: string },
): Promise<JsonText> {
  const conditions = [];
  if (!params.include_hidden) {
    conditions.push({ sql: 'not (t.is_hidden or st.is_hidden or tt.is_hidden)', bindings: [] });
  }
  if (params.type_key !== undefined) {
    conditions.push({
      sql: '? in (t.source_type_key, t.target_type_key)',
      bindings: [params.type_key],
    });
  }
  return await runList(ctx.db, relationTypeList, conditions, params);
}

/** The stakeholder roles of one card type. @throws EstateError `not_found` for an unknown type. */
export async function listStakeholderRoleDefinitions(
  ctx: Ctx,
  typeKey: string,
  params: ListParams & { include_archived: boolean },
): Promise<JsonText> {
  if (!ctx.metamodel.cardTypes.has(typeKey)) throw notFound('card type', typeKey);
  const conditions = [{ sql: 'd.card_type_key = ?', bindings: [typeKey] as unknown[] }];
  if (!params.include_archived) conditions.push({ sql: 'not d.is_archived', bindings: [] });
  return await runList(ctx.db, roleList, conditions, params);
}

async function one(
  ctx: Ctx,
  spec: ListSpec,
  where: string,
  bindings: string[],
  error: EstateError,
): Promise<JsonText> {
  const members = Object.entries(spec.members).map(([name, sql]) => `'${name}', ${sql}`);
  const { rows } = await ctx.db.raw(
    `select json_build_object(${members.join(', ')})::text as item from ${spec.from} where ${where}`,
    bindings,
  );
  if (!rows[0]) throw error;
  return rows[0].item;
}

/** One card type, hidden or not. @throws EstateError `not_found`. */
export async function readCardType(ctx: Ctx, key: string): Promise<JsonText> {
  return await one(ctx, cardTypeList, 't.key = ?', [key], notFound('card type', key));
}

/** One relation type, hidden or not. @throws EstateError `not_found`. */
export async function readRelationType(ctx: Ctx, key: string): Promise<JsonText> {
  return await one(ctx, relationTypeList, 't.key = ?', [key], notFound('relation type', key));
}

/** One stakeholder role with the number of assignments. @throws EstateError `not_found`. */
export async function readStakeholderRoleDefinition(
  ctx: Ctx,
  typeKey: string,
  roleKey: string,
): Promise<JsonText> {
  const spec: ListSpec = {
    ...roleList,
    members: {
      ...roleList.members,
      stakeholder_count: `(select count(*) from stakeholders s join cards c on c.id = s.card_id
        where s.role = d.key and c.type = d.card_type_key)`,
    },
  };
  return await one(
    ctx,
    spec,
    'd.card_type_key = ? and d.key = ?',
    [typeKey, roleKey],
    notFound('stakeholder role', `${typeKey}/${roleKey}`),
  );
}
