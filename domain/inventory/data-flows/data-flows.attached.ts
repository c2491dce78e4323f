import { embed, query } from '../../../platform/database.ts';
import type { DeletedCard, Work } from '../../kernel/context.ts';
import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import { DATA_FLOWS_TOPIC, type DataFlowRow } from './data-flows.model.ts';

/** A written flow: without `before` it was created, without `after` deleted. */
export interface FlowWrite {
  before: DataFlowRow | null;
  after: DataFlowRow | null;
}

/** The event of a written flow, in the histories of its ends, its interface and its data objects. */
function flowEvent({ before, after }: FlowWrite, cards: ReadonlyMap<string, DeletedCard>): EventDraft {
  const row = (after ?? before)!;
  const [source, target] = [cards.get(row.source_id)!, cards.get(row.target_id)!];
  const others = [before, after].flatMap((one) =>
    one ? [...(one.interface_id ? [one.interface_id] : []), ...one.data_object_ids] : [],
  );
  const names = {
    source_id: source.id,
    source_name: source.name,
    target_id: target.id,
    target_name: target.name,
  };
  const data = { id: row.id, ...names, ...(others.length > 0 ? { card_ids: [...new Set(others)] } : {}) };
  return {
    ...rowEvent('data_flow', before, after, data),
    card_id: source.id,
    card_type: source.type,
    peer_card_id: target.id,
    peer_card_type: target.type,
  };
}

/** Emits the events of written flows, whose ends are still stored. */
export async function emitFlows(work: Work, writes: readonly FlowWrite[]): Promise<void> {
  if (writes.length === 0) return;
  const ids = writes.flatMap(({ before, after }) => {
    const { source_id, target_id } = (after ?? before)!;
    return [source_id, target_id];
  });
  const ends = await query(work.sql).rows<DeletedCard>`select id, type, name from cards
    where id = any(${[...new Set(ids)]}::uuid[])`;
  const byId = new Map(ends.map((end) => [end.id, end]));
  for (const write of writes) work.emit(flowEvent(write, byId));
  work.raise(DATA_FLOWS_TOPIC);
}

/** SQL of the written row, before and after. */
const changed = 'to_jsonb(old) as before, to_jsonb(new) as after';

/** Deletes the flows of cards that are going to be deleted; other flows lose these as interface or data object. */
export async function deleteFlowsOfCards(work: Work, cards: readonly DeletedCard[]): Promise<void> {
  const ids = cards.map(({ id }) => id);
  const deleted = await query(work.sql).rows<FlowWrite>`with gone as (
      delete from data_flows t where t.source_id = any(${ids}::uuid[]) or t.target_id = any(${ids}::uuid[])
      returning t.id, to_jsonb(t) as before)
    select before, null as after from gone order by id`;
  const left = await query(work.sql).rows<FlowWrite>`update data_flows t set
      interface_id = case when t.interface_id = any(${ids}::uuid[]) then null else t.interface_id end,
      data_object_ids = array(select i from unnest(t.data_object_ids) i where i <> all(${ids}::uuid[]) order by i),
      updated_at = clock_timestamp()
    where t.interface_id = any(${ids}::uuid[]) or t.data_object_ids && ${ids}::uuid[]
    returning ${embed(changed)}`;
  await emitFlows(work, [...deleted, ...left]);
}

/**
 * Moves the flows of merged cards to the survivor, and deletes those between the merged cards.
 * @param cardIds the survivor first. @returns the number of moved flows.
 */
export async function mergeFlows(work: Work, cardIds: readonly string[]): Promise<number> {
  const [survivor, ...merged] = cardIds;
  const deleted = await query(work.sql).rows<FlowWrite>`with gone as (
      delete from data_flows t
      where t.source_id = any(${cardIds}::uuid[]) and t.target_id = any(${cardIds}::uuid[])
      returning t.id, to_jsonb(t) as before)
    select before, null as after from gone order by id`;
  const kept = (column: string) =>
    embed(`case when t.${column} = any(v.merged) then v.survivor else t.${column} end`);
  const moved = await query(work.sql).rows<FlowWrite>`update data_flows t set
      source_id = ${kept('source_id')}, target_id = ${kept('target_id')}, interface_id = ${kept('interface_id')},
      data_object_ids = array(select distinct case when i = any(v.merged) then v.survivor else i end as id
        from unnest(t.data_object_ids) i order by id),
      updated_at = clock_timestamp()
    from (select ${survivor}::uuid as survivor, ${merged}::uuid[] as merged) v
    where t.source_id = any(v.merged) or t.target_id = any(v.merged) or t.interface_id = any(v.merged)
      or t.data_object_ids && v.merged
    returning ${embed(changed)}`;
  await emitFlows(work, [...deleted, ...moved]);
  return moved.length;
}
