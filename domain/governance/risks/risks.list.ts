import Type from 'typebox';
import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import { requireVisibleCard } from '../../collaboration/cards.access.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnMembers, filterConditions, readItem, runList } from '../../kernel/lists/lists.run.ts';
import { likeText, whereClause } from '../../kernel/lists/lists.sql.ts';
import type {
  Condition,
  Fragment,
  JsonText,
  ListParams,
  ListSpec,
  SortField,
} from '../../kernel/lists/lists.types.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { Choice, type StaticOf, Uuid } from '../../kernel/shapes.ts';
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

export const riskSorts: Record<string, SortField> = {
  updated_at: { sql: 'r.updated_at', type: 'timestamptz', filled: true },
  created_at: { sql: 'r.created_at', type: 'timestamptz', immutable: true },
  reference: { sql: 'substr(r.reference, 3)::bigint', type: 'bigint', filled: true },
  title: { sql: 'fold(r.title)', type: 'text', filled: true },
  // ascending: the most severe level and the earliest status first
  level: { sql: `array_position(${oneOf(levels)}, ${presentLevel})`, type: 'bigint', filled: true },
  status: { sql: `array_position(${oneOf(riskStatuses)}, r.status)`, type: 'bigint', filled: true },
  category: { sql: 'r.category', type: 'text', filled: true },
  target_resolution_date: { sql: 'r.target_resolution_date::text', type: 'text' },
  owner_name: { sql: 'lower(u.display_name)', type: 'text' },
};

const FROM = 'risks r left join users u on u.id = r.owner_id';

/** Risks, over the aliases `r` and `u` of the owner. */
function riskList(ctx: Ctx): ListSpec {
  return {
    name: 'risks',
    from: FROM,
    id: 'r.id',
    sorts: riskSorts,
    defaultSort: 'updated_at',
    defaultDir: 'desc',
    search: SEARCH,
    members: {
      ...columnMembers('r', Risk),
      initial_level: initialLevel,
      residual_level: residualLevel,
      owner_name: 'u.display_name',
      cards: linkedCards(ctx),
    },
  };
}

/** The searched text of risks. */
export const SEARCH = `fold(r.reference || ' ' || r.title || ' ' || r.description)`;

const several = <const V extends readonly string[]>(values: V, description: string) =>
  Type.Optional(Type.Array(Choice(values), { maxItems: 20, description: `${description}; may be repeated` }));

/** The filters of a card's risks. */
export const cardRiskFilters = {
  status: several(riskStatuses, 'Only those of this status'),
  category: several(riskCategories, 'Only those of this category'),
  level: several(
    levels,
    'Only those of this level: the residual one where it is known, else the initial one',
  ),
  owner_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those of this owner' })),
  source_type: several(riskSources, 'Only those from this source'),
  overdue: Type.Boolean({
    default: false,
    description:
      'Only those whose target date is past, unless they are `mitigated`, `accepted` or `closed`; by the database’s day',
  }),
};
/** The filters of the risk register. */
export const riskFilters = {
  ...cardRiskFilters,
  card_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those linked to this card' })),
};
export type RiskFilter = StaticOf<typeof riskFilters>;

const columnFilters = {
  status: 'r.status = any(?::text[])',
  category: 'r.category = any(?::text[])',
  level: `${presentLevel} = any(?::text[])`,
  source_type: 'r.source_type = any(?::text[])',
  owner_id: 'r.owner_id = ?::uuid',
  overdue: isOverdue,
};

/** The conditions of the filters, over the alias `r`. */
export function riskConditions(ctx: Ctx, filter: RiskFilter): Condition[] {
  const where = filterConditions({ filters: columnFilters }, filter);
  return filter.card_id === undefined ? where : [...where, onCard(ctx, filter.card_id)];
}

/** The visible risks of a card. */
function onCard(ctx: Ctx, cardId: string): Condition {
  const visible = visibleCards(ctx);
  return fragment`exists (select from risk_cards k join cards c on c.id = k.card_id
      where k.risk_id = r.id and k.card_id = ${cardId}::uuid and (${embed(visible)}))`;
}

/** The risk register, last changed first. @throws EstateError `forbidden`. */
export async function listRisks(ctx: Ctx, params: ListParams & RiskFilter): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.view');
  return await runList(ctx, riskList(ctx), riskConditions(ctx, params), params);
}

/** The risks of a card. @throws EstateError `forbidden`, `not_found`. */
export async function listCardRisks(
  ctx: Ctx,
  cardId: string,
  params: ListParams & RiskFilter,
): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.view');
  await requireVisibleCard(ctx.db, ctx, cardId);
  const where = riskConditions(ctx, { ...params, card_id: cardId });
  return await runList(ctx, riskList(ctx), where, params);
}

/** One risk. @throws EstateError `forbidden`, `not_found`. */
export async function readRisk(ctx: Ctx, id: string): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.view');
  return await riskText(ctx.db, ctx, id);
}

/** One risk as its JSON text. @throws EstateError `not_found`. */
export async function riskText(sql: Sql, ctx: Ctx, id: string): Promise<JsonText> {
  return await readItem(sql, riskList(ctx), 'risk', id);
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
export async function readRiskMetrics(ctx: Ctx, params: RiskFilter & { search?: string }): Promise<JsonText> {
  requirePermission(ctx.caller, 'risks.view');
  const where = riskConditions(ctx, params);
  if (params.search) where.push(fragment`${embed(SEARCH)} like ${`%${likeText(params.search)}%`}`);
  const w = whereClause(where);
  const [row] = await query(ctx.db).rows<{ text: JsonText }>`select ${embed(metrics)}::text as text
     from (select r.*, ${embed(presentLevel)} as level, ${embed(isOverdue)} as is_overdue
     from risks r${embed(w)}) r`;
  return row!.text;
}
