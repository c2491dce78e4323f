import { embed, query } from '../../../platform/database.ts';
import { visibleCards } from '../../inventory/cards/cards.projection.ts';
import { type Planning, type PlanSpec, refuse, refuseIds, refuseSameKeys } from './imports.planning.ts';

/** The cards of visible types with the key of a row `r`, by a condition over `c`; two are enough to refuse the row. */
const found = (named: string, condition: string) => `left join lateral (
     select (array_agg(h.id))[1] as id, count(*) as hits from (
       select c.id from card_types t join cards c on c.type = t.key and ${condition}
       where r.card_id is null and r.${named} is not null and not t.is_hidden
         and (r.card_type is null or t.key = r.card_type) limit 2) h
   ) as by_${named} on true`;

/** Plans rows of costs: to which card or relation they belong, and whether the cost exists. */
export const costPlan: PlanSpec = {
  rowsTable: 'import_cost_rows',
  planTable: 'import_cost_plan',
  rows: `select r.line, 'cost' as type, r.id as given_id, r.external_id, r.missing, r.card_type,
     r.errors is not null or x.line is not null as failed, x.line is not null as repeated,
     null::integer as yields_to, r.bytes,
     case when r.card_id is not null then 'card_id' when r.card_external_id is not null then 'card_external_id'
       when r.card_name is not null then 'card_name' end as card_field,
     coalesce(r.card_id::text, r.card_external_id, r.card_name) as named_card,
     coalesce(ci.id, by_card_external_id.id, by_card_name.id) as card_id,
     greatest(by_card_external_id.hits, by_card_name.hits) as hits,
     r.relation_id as named_relation, rel.id as relation_id, uuidv7() as cost_id, true as is_new
   from import_cost_rows r
   left join cards ci on ci.id = r.card_id
   left join relations rel on rel.id = r.relation_id
   ${found('card_external_id', 'c.external_id = r.card_external_id')}
   ${found(
     'card_name',
     `r.card_external_id is null and c.name_key = fold(r.card_name)
         and lower(c.name) = lower(r.card_name) and c.status = 'ACTIVE'`,
   )}
   left join plan_excluded x on x.line = r.line
   where r.job_id = :jobId`,
  indexes: [],
  async settle(planning) {
    await checkOwners(planning);
    await checkIdentity(planning);
  },
  named: { value: 'p.named_card', type: 'p.card_type' },
  order: 'line',
  columns: 'line, cost_id, is_new, card_id, relation_id',
};

/** Refuses rows whose card or relation does not exist, is not visible, or is not the only one of its name. */
async function checkOwners(planning: Planning): Promise<void> {
  const { sql, ctx } = planning;
  const visible = embed(visibleCards(ctx));
  await query(sql).run`update plan_rows p set card_id = null
    from cards c where c.id = p.card_id and not (${visible})`;
  await query(sql).run`update plan_rows p set relation_id = null
    from relations r, cards s, cards t where r.id = p.relation_id and s.id = r.source_id and t.id = r.target_id
      and not (r.type = any(${ctx.metamodel.visibleRelationTypes}::text[])
        and exists (select from cards c where c.id = s.id and (${visible}))
        and exists (select from cards c where c.id = t.id and (${visible})))`;
  await refuse(planning)`select line, 'relation_id', 'two_owners', 'cannot be set together with a card'
    from plan_rows where named_card is not null and named_relation is not null`;
  await refuse(
    planning,
  )`select line, card_field, 'ambiguous_card', 'several cards are named "' || named_card || '"'
    from plan_rows where hits > 1`;
  await refuse(planning)`select line, card_field, 'unknown_card', '"' || named_card || '" is no card'
    from plan_rows where named_card is not null and card_id is null`;
  await refuse(planning)`select line, 'relation_id', 'unknown_relation', 'is no relation'
    from plan_rows where named_relation is not null and relation_id is null`;
}

/** Finds the costs that rows change, by id or external id. */
async function checkIdentity(planning: Planning): Promise<void> {
  const { sql, mode, pulse } = planning;
  await query(sql)
    .run`update plan_rows p set cost_id = t.id, is_new = false from costs t where t.id = p.given_id`;
  if (mode === 'upsert') {
    await query(sql).run`update plan_rows p set cost_id = t.id, is_new = false
      from costs t where p.given_id is null and t.external_id = p.external_id`;
  }
  await refuseIds(planning, 'cost');
  await refuse(
    planning,
  )`select p.line, 'external_id', 'external_id_taken', 'the cost ' || t.id || ' has it already'
    from plan_rows p join costs t on t.external_id = p.external_id where t.id <> p.cost_id`;
  await refuse(planning)`select p.line, coalesce(p.card_field, 'relation_id'), 'owner_differs',
      'the cost belongs to another card or relation'
    from plan_rows p join costs t on t.id = p.cost_id
    where not p.is_new and (p.card_id <> t.card_id or p.relation_id <> t.relation_id
      or p.card_id is not null and t.card_id is null or p.relation_id is not null and t.relation_id is null)`;
  await query(sql).run`update plan_rows p set card_id = t.card_id, relation_id = t.relation_id
    from costs t where not p.is_new and t.id = p.cost_id`;
  await refuse(planning)`select line, missing, 'required', 'is needed for a new cost'
    from plan_rows where is_new and not failed and missing is not null`;
  pulse();
  await refuseSameKeys(planning);
}
