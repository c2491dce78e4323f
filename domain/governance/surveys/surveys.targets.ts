import { embed, fragment, query, queryRows, type Sql } from '../../../platform/database.ts';
import { type FieldError, invalidField, notFound } from '../../../platform/errors.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import {
  conditionOn,
  prepareFilter,
  prepareMember,
  prepareNode,
} from '../../inventory/filters/filters.prepare.ts';
import type { FilterNode, FilterOperator } from '../../inventory/filters/filters.types.ts';
import type { Ctx } from '../../kernel/context.ts';
import { whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import type { CardType } from '../../kernel/metamodel/metamodel.compile.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import type { AttributeFilter, SurveyRow, TargetFilters } from './surveys.model.ts';

const operators: Record<Exclude<AttributeFilter['op'], 'contains'>, FilterOperator> = {
  eq: '=',
  ne: '!=',
  gt: '>',
  gte: '>=',
  lt: '<',
  lte: '<=',
  is_empty: 'is empty',
  is_not_empty: 'is not empty',
};

/** The card, at either end of a relation whose other end is one of the ids. */
const RELATED = `exists (select from relations r where r.source_id = c.id and r.target_id = any(?::uuid[])
    and r.type = any(?::text[]))
  or exists (select from relations r where r.target_id = c.id and r.source_id = any(?::uuid[])
    and r.type = any(?::text[]))`;

/**
 * The visible active cards of a survey: conditions over the alias `c`.
 * @throws EstateError 422 naming the member under `target_filters`; `forbidden` for data that the caller may not filter
 * by.
 */
async function targetConditions(ctx: Ctx, survey: SurveyTargets): Promise<Condition[]> {
  const { card_ids, tag_ids, related_ids, attribute_filters, filter } = survey.target_filters;
  const conditions: Condition[] = [
    visibleCards(ctx),
    fragment`c.status = 'ACTIVE' and c.type = ${survey.target_type_key}`,
  ];
  if (card_ids?.length) conditions.push(fragment`c.id = any(${card_ids}::uuid[])`);
  if (tag_ids?.length) {
    conditions.push(fragment`exists (select from card_tags k
      where k.card_id = c.id and k.tag_id = any(${tag_ids}::uuid[]))`);
  }
  if (related_ids?.length) {
    requirePermission(ctx.caller, 'relations.view');
    const types = ctx.metamodel.visibleRelationTypes;
    conditions.push({ sql: RELATED, bindings: [related_ids, types, related_ids, types] });
  }
  const type = ctx.metamodel.cardTypes.get(survey.target_type_key);
  for (const [n, asked] of (attribute_filters ?? []).entries()) {
    const field = `target_filters.attribute_filters.${n}`;
    const node = attributeNode(field, asked, type);
    conditions.push(await prepareMember(field, () => prepareNode(ctx, node)));
  }
  if (filter !== undefined) {
    const condition = await prepareMember('target_filters.filter', () => prepareFilter(ctx, filter));
    if (condition) conditions.push(condition);
  }
  return conditions;
}

/** The columns that determine the recipients. */
export type SurveyTargets = Pick<SurveyRow, 'target_type_key' | 'target_filters' | 'target_roles'>;

function attributeNode(
  field: string,
  { key, op, value }: AttributeFilter,
  type: CardType | undefined,
): FilterNode {
  const declared = type?.fields.get(key);
  if (!declared) throw invalidField(`${field}.key`, 'unknown_attribute', 'is no attribute of the card type');
  const empty = op === 'is_empty' || op === 'is_not_empty';
  if (!empty && (value === undefined || value === null)) {
    throw invalidField(`${field}.value`, 'required', `is needed for ${op}`);
  }
  // A list contains an option as a whole, a text a part of it.
  const contains: FilterOperator = declared.type === 'multiple_select' ? '=' : '~';
  const operator = op === 'contains' ? contains : operators[op];
  return conditionOn(['attributes', key], operator, empty ? [] : [value!]);
}

/**
 * Checks filters when they are written: against the metamodel, and that cards and tags exist.
 * @throws EstateError as the conditions do; adds unknown ids to `errors`.
 */
export async function checkTargets(
  sql: Sql,
  ctx: Ctx,
  survey: SurveyTargets,
  errors: FieldError[],
): Promise<void> {
  const { card_ids, tag_ids, related_ids } = survey.target_filters;
  const visible = visibleCards(ctx);
  const known = async (member: keyof TargetFilters, ids: string[] | undefined, query: Fragment) => {
    if (!ids?.length) return;
    const rows = await queryRows<{ id: string }>(sql, query.sql, [...query.bindings, ids]);
    const found = new Set(rows.map((row) => row.id));
    for (const [n, id] of ids.entries()) {
      if (found.has(id.toLowerCase())) continue;
      errors.push({ field: `target_filters.${member}.${n}`, code: 'unknown_value', message: 'is not known' });
    }
  };
  const cards = {
    sql: `select c.id from cards c where (${visible.sql}) and c.id = any(?::uuid[])`,
    bindings: visible.bindings,
  };
  await known('card_ids', card_ids, cards);
  await known('related_ids', related_ids, cards);
  await known('tag_ids', tag_ids, { sql: 'select id from tags where id = any(?::uuid[])', bindings: [] });
  await targetConditions(ctx, survey);
}

/**
 * The recipients of a survey, as a query of `card_id`, `user_id` and `role`: active users who have one of the roles on
 * a card that the filters select, and to whom that card is visible. Of several roles the first by key is returned.
 */
export async function targetQuery(ctx: Ctx, survey: SurveyTargets): Promise<Fragment> {
  const where = whereClause([...(await targetConditions(ctx, survey)), seesIt(ctx, survey)]);
  return fragment`select c.id as card_id, u.id as user_id, min(s.role) as role
      from cards c join stakeholders s on s.card_id = c.id and s.role = any(${survey.target_roles}::text[])
      join users u on u.id = s.user_id and u.is_active and u.kind = 'person'
      join roles o on o.key = u.role${embed(where)}
      group by c.id, u.id`;
}

/** Whether the card is visible to the user `u` of the role `o`, with the conditions of {@link visibleCards}. */
function seesIt(ctx: Ctx, survey: SurveyTargets): Condition {
  const roles = ctx.metamodel.cardTypes.get(survey.target_type_key)?.stakeholderRoles ?? [];
  const viewing = roles.filter((role) => role.permissions.has('card.view')).map(({ key }) => key);
  return fragment`not o.is_archived and (o.permissions @> '{"*": true}'
    or o.permissions @> '{"inventory.view": true}')
      or exists (select from stakeholders v
      where v.card_id = c.id and v.user_id = u.id and v.role = any(${viewing}::text[]))`;
}

/**
 * One page of the cards of a survey, with their recipients, by name.
 * @throws EstateError `forbidden`, `not_found`; as the filters do.
 */
export async function previewSurvey(
  ctx: Ctx,
  id: string,
  { page, page_size: size }: { page: number; page_size: number },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'surveys.manage');
  requirePermission(ctx.caller, 'stakeholders.view');
  const survey: SurveyTargets | undefined = await ctx
    .db('surveys')
    .where({ id })
    .first('target_type_key', 'target_filters', 'target_roles');
  if (!survey) throw notFound('survey', id);
  const targets = await targetQuery(ctx, survey);
  const [preview] = await query(ctx.db).rows<{ text: JsonText }>`
       with targets as materialized (${embed(targets)})
     select json_build_object(
       'total_cards', (select count(distinct card_id) from targets),
       'total_users', (select count(distinct user_id) from targets),
       'page', ${page}::int, 'page_size', ${size}::int,
       'targets', (select coalesce(json_agg(item), '[]') from (
         select json_build_object('card_id', c.id, 'card_name', c.name, 'card_type', c.type, 'users', (
             select json_agg(json_build_object('user_id', u.id, 'display_name', u.display_name, 'email',
             u.email,
               'role', t.role) order by lower(u.display_name), u.id)
             from targets t join users u on u.id = t.user_id where t.card_id = c.id)) as item
         from (select distinct card_id from targets) d join cards c on c.id = d.card_id
         order by lower(c.name), c.id limit ${size} offset ${(page - 1) * size}) listed))::text as text`;
  return preview!.text;
}
