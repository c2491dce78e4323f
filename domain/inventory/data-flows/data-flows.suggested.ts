import type { Ctx } from '../../kernel/context.ts';
import { defineList } from '../../kernel/lists/lists.define.ts';
import { requirePermission } from '../../kernel/permissions/policy.ts';
import { flowMembers } from './data-flows.list.ts';
import { DATA_OBJECT, FLOW_DIRECTION, INTERFACE } from './data-flows.model.ts';

/** The keys of the visible relation types from one type to another, as SQL; keys contain letters, digits and underscores. */
function keysBetween(
  { metamodel }: Ctx,
  isSource: (type: string) => boolean,
  target: string,
  field?: string,
): string {
  const types = metamodel.visibleRelationTypes.map((key) => metamodel.relationTypes.get(key)!);
  const fitting = types.filter(
    (type) =>
      isSource(type.source_type_key) &&
      type.target_type_key === target &&
      (field === undefined || type.fields.has(field)),
  );
  return `array[${fitting.map(({ key }) => `'${key}'`).join(', ')}]::text[]`;
}

/**
 * The flows over each interface from the cards that send data into it to those that receive data from it, if one side is
 * a single card or there are only two: else it is not known who sends to whom. Without those that exist.
 */
function suggestions(ctx: Ctx): string {
  const isEnd = (type: string) => ctx.metamodel.cardTypes.get(type)?.has_data_flows ?? false;
  return `(with used as (
      select distinct r.source_id as card, r.target_id as via, r.attributes ->> '${FLOW_DIRECTION}' as way
      from relations r join cards c on c.id = r.source_id join cards i on i.id = r.target_id
      where r.type = any(${keysBetween(ctx, isEnd, INTERFACE, FLOW_DIRECTION)})
        and c.status = 'ACTIVE' and i.status = 'ACTIVE'),
    clear as (
      select via from used where way is not null group by via
      having count(distinct card) = 2 or count(distinct card) filter (where way <> 'reverse') = 1
        or count(distinct card) filter (where way <> 'forward') = 1)
    select o.card || '/' || b.card || '/' || o.via as id, o.card as source_id, b.card as target_id, o.via as interface_id,
      case when o.way = 'bidirectional' and b.way = 'bidirectional' then 'bidirectional' else 'forward' end as direction,
      array(select r.target_id from relations r where r.source_id = o.via
        and r.type = any(${keysBetween(ctx, (type) => type === INTERFACE, DATA_OBJECT)})) as data_object_ids
    from clear join used o on o.via = clear.via and o.way <> 'reverse'
      join used b on b.via = o.via and b.way <> 'forward' and b.card <> o.card
    where not (o.way = 'bidirectional' and b.way = 'bidirectional' and o.card > b.card)
      and not exists (select from data_flows f where f.interface_id = o.via
        and (f.source_id = o.card and f.target_id = b.card
          or f.direction = 'bidirectional' and f.source_id = b.card and f.target_id = o.card)))`;
}

/** The data flows that follow from the relations of interfaces, in the form of bulk operations. */
export const suggestedFlowList = defineList({
  name: 'suggested-data-flows',
  permission: 'relations.view',
  from: (ctx: Ctx) =>
    `${suggestions(ctx)} t join cards s on s.id = t.source_id join cards d on d.id = t.target_id`,
  id: 't.id',
  idType: 'text',
  sorts: {
    source: { sql: 's.name_key', type: 'text', filled: true },
    target: { sql: 'd.name_key', type: 'text', filled: true },
  },
  defaultSort: 'source',
  search: "s.name_key || ' ' || d.name_key",
  members: { ...flowMembers, direction: 't.direction' },
  where(ctx: Ctx) {
    requirePermission(ctx.caller, 'inventory.view');
    return [];
  },
});
