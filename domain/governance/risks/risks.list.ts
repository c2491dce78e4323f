import Type from 'typebox';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { requireVisibleCard } from '../../collaboration/cards.access.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import { defineList, listFor } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, filterConditions, readItem } from '../../kernel/lists/lists.run.ts';
import { likeText, rankSql, whereClause } from '../../kernel/lists/lists.sql.ts';
import type { Condition, FilterSchemas, Fragment, JsonText } from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { Choice, DateOnly, Flag, type StaticOf, Uuid } from '../../kernel/shapes.ts';
import {
  impacts,
  levels,
  probabilities,
  Risk,
  riskCategories,
  riskSources,
  riskStatuses,
} from './risks.model.ts';
import { levelSql, overdueStatuses } from './risks.rules.ts';

const initialLevel = levelSql('r.initial_probability', 'r.initial_impact');
const residualLevel = levelSql('r.residual_probability', 'r.residual_impact');
/** The effective level, over the alias `r` of `risks`. */
const presentLevel = `coalesce(${residualLevel}, ${initialLevel})`;

const oneOf = (values: readonly string[]): string =>
  `array[${values.map((value) => `'${value}'`).join(', ')}]`;

/** Whether the target date is past and the risk is unresolved, by the database's date. */
const isOverdue = `(r.target_resolution_date < current_date and r.status = any(${oneOf(overdueStatuses)}))`;

/** The visible cards of a risk. */
function linkedCards(ctx: Ctx): Fragment {
  const visible = visibleCards(ctx);
  return fragment`(select coalesce(json_agg(json_build_object('card_id', c.id, 'card_name', c.name,
    'card_type', c.type,
        'role', k.role) order by c.name_key, c.id), '[]')
      from risk_cards k join cards c on c.id = k.card_id where k.risk_id = r.id and (${embed(visible)}))`;
}

/** The searched text of risks. */
export const SEARCH = `fold(r.reference || ' ' || r.title || ' ' || r.description)`;

const several = <const V extends readonly string[]>(values: V, description: string) =>
  Type.Array(Choice(values), { maxItems: 20, description: `${description}; may be repeated` });

const filters = {
  status: [several(riskStatuses, 'Only those of this status'), 'r.status = any(?::text[])'],
  category: [several(riskCategories, 'Only those of this category'), 'r.category = any(?::text[])'],
  level: [
    several(levels, 'Only those of this level: the residual one where it is known, else the initial one'),
    `${presentLevel} = any(?::text[])`,
  ],
  probability: [
    several(probabilities, 'Only those of this probability, like `level`'),
    `case when ${residualLevel} is null then r.initial_probability else r.residual_probability end = any(?::text[])`,
  ],
  impact: [
    several(impacts, 'Only those of this impact, like `level`'),
    `case when ${residualLevel} is null then r.initial_impact else r.residual_impact end = any(?::text[])`,
  ],
  target_from: [
    Type.String({ ...DateOnly, description: 'Target date or later' }),
    'r.target_resolution_date >= ?::date',
  ],
  target_to: [
    Type.String({ ...DateOnly, description: 'Target date or earlier' }),
    'r.target_resolution_date <= ?::date',
  ],
  owner_id: [Type.String({ ...Uuid, description: 'Only those of this owner' }), 'r.owner_id = ?::uuid'],
  source_type: [several(riskSources, 'Only those from this source'), 'r.source_type = any(?::text[])'],
  overdue: [
    Flag(
      'Only those whose target date is past, unless they are `mitigated`, `accepted` or `closed`; by the database’s day',
    ),
    isOverdue,
  ],
} as const;

/** The visible risks of a card. */
function onCard(ctx: Ctx, cardId: string): Condition {
  return fragment`exists (select from risk_cards k join cards c on c.id = k.card_id
      where k.risk_id = r.id and k.card_id = ${cardId}::uuid and (${embed(visibleCards(ctx))}))`;
}

/** The risk register, last changed first. */
export const riskList = defineList({
  name: 'risks',
  permission: 'risks.view',
  from: 'risks r left join users u on u.id = r.owner_id',
  id: 'r.id',
  sorts: {
    ...columnSorts('r', Risk, 'updated_at', 'created_at', 'category', 'status', 'target_resolution_date'),
    reference: { sql: 'substr(r.reference, 3)::bigint', type: 'bigint', filled: true },
    title: { sql: 'fold(r.title)', type: 'text', filled: true },
    // ascending: the most severe level first
    level: { sql: rankSql(levels, presentLevel), type: 'bigint', filled: true },
    owner_name: { sql: 'lower(u.display_name)', type: 'text' },
  },
  defaultSort: 'updated_at',
  defaultDir: 'desc',
  filters: {
    ...filters,
    card_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those linked to this card' })),
  },
  search: SEARCH,
  members: {
    ...columnMembers('r', Risk),
    initial_level: initialLevel,
    residual_level: residualLevel,
    owner_name: 'u.display_name',
    cards: linkedCards,
  },
  where: (ctx, { card_id }) => (card_id === undefined ? [] : [onCard(ctx, card_id)]),
});

/** The risks of a card. */
export const cardRiskList = defineList({
  ...riskList,
  filters,
  async where(ctx, _params, cardId) {
    await requireVisibleCard(ctx.db, ctx, cardId);
    return [onCard(ctx, cardId)];
  },
});

/** One risk as its JSON text. @throws EstateError `not_found`. */
export async function riskText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText> {
  return await readItem(sql, listFor(ctx, riskList), 'risk', id);
}

const counted = (condition: string): string => `count(*) filter (where ${condition})`;
const byValue = (column: string, values: readonly string[]): string =>
  `json_build_object(${values.map((value) => `'${value}', ${counted(`${column} = '${value}'`)}`).join(', ')})`;
/** Rows are probabilities, columns impacts, both in descending order. */
const matrixOf = (kind: 'initial' | 'residual'): string =>
  `json_build_array(${probabilities
    .map(
      (p) =>
        `json_build_array(${impacts
          .map((i) => counted(`r.${kind}_probability = '${p}' and r.${kind}_impact = '${i}'`))
          .join(', ')})`,
    )
    .join(', ')})`;

const metrics = `json_build_object(
  'total', count(*),
  'by_status', ${byValue('r.status', riskStatuses)},
  'by_level', ${byValue('r.level', levels)},
  'by_category', ${byValue('r.category', riskCategories)},
  'overdue', ${counted('r.is_overdue')},
  'created_this_month', ${counted("r.created_at >= date_trunc('month', now(), 'UTC')")},
  'initial_matrix', ${matrixOf('initial')},
  'residual_matrix', ${matrixOf('residual')})`;

/** Figures over the risks that match the filter. @throws EstateError `forbidden`. */
export async function readRiskMetrics(
  ctx: Ctx,
  params: StaticOf<FilterSchemas<NonNullable<typeof riskList.filters>>> & { search?: string },
): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.view');
  const where = filterConditions(riskList, params);
  if (params.card_id !== undefined) where.push(onCard(ctx, params.card_id));
  if (params.search) where.push(fragment`${embed(SEARCH)} like ${`%${likeText(params.search)}%`}`);
  const [row] = await query(ctx.db).rows<{ text: JsonText }>`select ${embed(metrics)}::text as text
     from (select r.*, ${embed(presentLevel)} as level, ${embed(isOverdue)} as is_overdue
     from risks r${embed(whereClause(where))}) r`;
  return row!.text;
}
