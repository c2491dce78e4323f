import Type, { type Static } from 'typebox';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { visibleAttributes } from '../../inventory/cards/cards.projection.ts';
import type { Ctx } from '../../kernel/context.ts';
import { may } from '../../kernel/permissions/policy.ts';
import { Count, Nullable, object, Uuid } from '../../kernel/shapes.ts';

/** The attribute with the annual costs of a card. */
const COST = 'costTotalAnnual';

/**
 * The effect of a merge; null if the caller may not see it. Folded relations are dropped, because the survivor has them
 * already or they are between merged cards.
 */
export const MergeEffect = object(
  {
    survivor_id: Uuid,
    merged_ids: Type.Array(Uuid),
    relations_moved: Nullable(Count),
    relations_folded: Nullable(Count),
    children_moved: Count,
    people_affected: Nullable(Count),
    cost_saved: Nullable(Type.Number({ description: 'Annual; null without `costs.view`' })),
  },
  { description: 'The effect of the recommended merge' },
);
export type MergeEffect = Static<typeof MergeEffect>;

/** Computes the effect of a merge. */
export async function effectOf(
  sql: Sql,
  ctx: Ctx,
  survivorId: string,
  mergedIds: readonly string[],
): Promise<MergeEffect> {
  const all = [survivorId, ...mergedIds];
  const hasCost = `jsonb_typeof(c.attributes -> '${COST}') = 'number'`;
  const rows = await query(sql).rows`with ends as (
       select type, source_id as card, target_id as other, true as out from relations
       where source_id = any(${all}::uuid[])
       union all
       select type, target_id, source_id, false from relations where target_id = any(${all}::uuid[])
     ), outside as (
       select type, other, out, card = ${survivorId}::uuid as own from ends where other <> all(${all}::uuid[])
     ), lines as (
       select bool_or(own) as own, count(*) filter (where not own) as merged from outside
       group by type, other, out
     ), costs as (
       select sum((a.seen ->> '${embed(COST)}')::numeric) as cost, count(*) filter (where ${embed(hasCost)}
       and not a.seen \\? '${embed(COST)}') as hidden
       from cards c, lateral (select ${embed(visibleAttributes(ctx))} as seen) a
       where c.id = any(${mergedIds}::uuid[]) and ${embed(hasCost)}
     )
     select
       (select count(*) filter (where not own)::int from lines) as moved,
       (select coalesce(sum(merged), 0)::int - count(*) filter (where not own)::int from lines) as folded,
       (select count(*)::int from cards
       where parent_id = any(${mergedIds}::uuid[]) and id <> all(${all}::uuid[])) as children,
       (select count(distinct user_id)::int from stakeholders where card_id = any(${all}::uuid[])) as people,
       (select case when hidden = 0 then cost end from costs) as cost`;
  const { moved, folded, children, people, cost } = rows[0];
  const seesRelations = may(ctx.caller, 'relations.view');
  return {
    survivor_id: survivorId,
    merged_ids: [...mergedIds],
    relations_moved: seesRelations ? moved : null,
    relations_folded: seesRelations ? folded : null,
    children_moved: children,
    people_affected: may(ctx.caller, 'stakeholders.view') ? people : null,
    cost_saved: cost === null ? null : Number(cost),
  };
}
