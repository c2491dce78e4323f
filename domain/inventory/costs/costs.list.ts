import Type from 'typebox';
import { fragment, type Sql } from '../../../platform/database.ts';
import { notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { columnMembers, columnSorts, readItem } from '../../kernel/lists/lists.run.ts';
import type { Condition, JsonText } from '../../kernel/lists/lists.types.ts';
import {
  forbidden,
  hasCostRole,
  may,
  mayOnCard,
  requirePermission,
  seesCosts,
} from '../../kernel/permissions/policy.ts';
import { DateOnly, FilledText } from '../../kernel/shapes.ts';
import { loadCards } from '../cards/cards.load.ts';
import { invisibleCardError, visibleCards } from '../cards/cards.projection.ts';
import { seesRelationCosts } from '../relations/relations.admit.ts';
import { loadEnds } from '../relations/relations.load.ts';
import { Cost } from './costs.model.ts';

const day = (description: string) => Type.String({ ...DateOnly, description });
const namedCard = (alias: string) =>
  `json_build_object('id', ${alias}.id, 'type', ${alias}.type, 'name', ${alias}.name)`;

/** Costs with their card, or with their relation and its ends. */
const base = {
  name: 'costs',
  from: `costs t left join relations r on r.id = t.relation_id
    join cards c on c.id = coalesce(t.card_id, r.source_id) left join cards d on d.id = r.target_id`,
  id: 't.id',
  sorts: {
    ...columnSorts('t', Cost, 'created_at', 'kind', 'currency'),
    period_start: { sql: 't.period_start::text', type: 'text' as const, filled: true },
    period_end: { sql: 't.period_end::text', type: 'text' as const, filled: true },
    amount: { sql: 't.amount', type: 'numeric' as const, filled: true },
  },
  defaultSort: 'created_at',
  search: "fold(coalesce(t.description, '') || ' ' || coalesce(t.external_id, ''))",
  filters: {
    kind: [FilledText(100, 'Only those of this kind'), 't.kind = ?'],
    currency: [FilledText(3, 'Only those in this currency'), 't.currency = ?'],
    from: [day('Only those whose period ends on this day or later'), 't.period_end >= ?::date'],
    to: [day('Only those whose period begins on this day or earlier'), 't.period_start <= ?::date'],
  } as const,
  members: {
    ...columnMembers('t', Cost.shown),
    converted_amount: 'round(t.amount * exchange_rate(t.currency), 2)',
    card: `case when t.card_id is not null then ${namedCard('c')} end`,
    relation: `case when r.id is not null then json_build_object('id', r.id, 'type', r.type,
      'source', ${namedCard('c')}, 'target', ${namedCard('d')}) end`,
  },
};

/** The condition that the caller sees a cost and its card, or its relation with both ends. */
function visible(ctx: Ctx): Condition[] {
  const cards = visibleCards(ctx);
  const target: Condition = {
    sql: `(d.id is null or exists (select from cards c where c.id = d.id and (${cards.sql})))`,
    bindings: cards.bindings,
    visibility: true,
  };
  const relations: Condition = may(ctx.caller, 'relations.view')
    ? fragment`(r.id is null or r.type = any(${ctx.metamodel.visibleRelationTypes}::text[]))`
    : fragment`r.id is null`;
  const costs = may(ctx.caller, 'costs.view') ? fragment`true` : hasCostRole(ctx.caller, 'c.id, d.id');
  return [cards, target, { ...relations, visibility: true }, { ...costs, visibility: true }];
}

/** All costs that the caller sees. */
export const costList = defineList({
  ...base,
  permission: 'costs.view',
  filters: {
    ...base.filters,
    card_type: [FilledText(100, 'Only those of cards of this type'), 't.card_id is not null and c.type = ?'],
  },
  visible,
});

/** A visible card whose costs the caller sees. @throws EstateError `not_found`, `forbidden`. */
async function requireCardCosts(ctx: Ctx, id: string): Promise<Condition> {
  const cards = await loadCards({ sql: ctx.db, metamodel: ctx.metamodel }, ctx, [id]);
  const card = cards.get(id.toLowerCase());
  if (!card || !mayOnCard(ctx, { app: 'inventory.view', card: 'card.view' }, card)) {
    throw invisibleCardError(ctx, notFound('card', id));
  }
  if (!seesCosts(ctx, card)) throw forbidden('costs.view');
  return fragment`t.card_id = ${card.id}::uuid`;
}

/** A visible relation whose costs the caller sees. @throws EstateError `not_found`, `forbidden`. */
async function requireRelationCosts(ctx: Ctx, id: string): Promise<Condition> {
  requirePermission(ctx.caller, 'inventory.view');
  requirePermission(ctx.caller, 'relations.view');
  const relation = await ctx.db('relations').where({ id }).first('id', 'type', 'source_id', 'target_id');
  const ends = relation && (await loadEnds(ctx.db, ctx, [relation.source_id, relation.target_id]));
  const [source, target] = [ends?.get(relation?.source_id), ends?.get(relation?.target_id)];
  if (!source || !target || !ctx.metamodel.visibleRelationTypes.includes(relation.type)) {
    throw notFound('relation', id);
  }
  if (!seesRelationCosts(ctx, source, target)) throw forbidden('costs.view');
  return fragment`t.relation_id = ${relation.id}::uuid`;
}

/** The costs of a card. */
export const cardCostList = defineList({
  ...base,
  where: async (ctx: Ctx, _params: unknown, id?: string) => [await requireCardCosts(ctx, id!)],
});

/** The costs of a relation. */
export const relationCostList = defineList({
  ...base,
  where: async (ctx: Ctx, _params: unknown, id?: string) => [await requireRelationCosts(ctx, id!)],
});

/** One cost. @throws EstateError `not_found`, `forbidden` as reads of the costs of its card or relation. */
export async function readCost(ctx: Ctx, id: string): Promise<JsonText> {
  const row = await ctx.db('costs').where({ id }).first('card_id', 'relation_id');
  if (!row) throw notFound('cost', id);
  if (row.card_id) await requireCardCosts(ctx, row.card_id);
  else await requireRelationCosts(ctx, row.relation_id);
  return await writtenCost(ctx.db, id);
}

/** A cost as its JSON text after a write, equal to what reads return. */
export const writtenCost = (sql: Sql, id: string): Promise<JsonText> => readItem(sql, base, 'cost', id);
