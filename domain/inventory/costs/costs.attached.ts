import { query } from '../../../platform/database.ts';
import type { DeletedCard, Work } from '../../kernel/context.ts';
import { type EventDraft, rowEvent } from '../../kernel/events/row-changes.ts';
import { deleteRowsOfCards } from '../cards/cards.attached.ts';
import { COSTS_TOPIC, type CostRow } from './costs.model.ts';

/** What has costs: a card, or the source of a relation with its target. */
export interface CostOwner {
  card: DeletedCard;
  target?: DeletedCard;
}

/** The columns that clients write, whose values only users who see costs may read. */
export const costKeys = [
  'kind',
  'period_start',
  'period_end',
  'amount',
  'currency',
  'description',
  'external_id',
] as const;

/** The event of a written cost, in the history of its card, or of both cards of its relation. */
export function costEvent(
  { card, target }: CostOwner,
  before: CostRow | null,
  after: CostRow | null,
): EventDraft {
  const { id } = (after ?? before)!;
  const names = target
    ? { source_id: card.id, source_name: card.name, target_id: target.id, target_name: target.name }
    : { card_name: card.name };
  return {
    ...rowEvent(target ? 'relation_cost' : 'cost', before, after, { id, ...names }),
    card_id: card.id,
    card_type: card.type,
    ...(target ? { peer_card_id: target.id, peer_card_type: target.type } : {}),
    cost_keys: [...costKeys],
  };
}

/** Deletes the costs of cards that are going to be deleted, with an event for each. */
export async function deleteCostsOfCards(work: Work, cards: readonly DeletedCard[]): Promise<void> {
  const byId = new Map(cards.map((card) => [card.id, card]));
  const rows = await deleteRowsOfCards<CostRow>(work, 'costs', [...byId.keys()]);
  for (const row of rows) work.emit(costEvent({ card: byId.get(row.card_id!)! }, row, null));
  if (rows.length > 0) work.raise(COSTS_TOPIC);
}

/** Relations with the cards at their ends. */
export type RelationEnds = ReadonlyMap<string, { source: DeletedCard; target: DeletedCard }>;

/**
 * Deletes the costs of relations that are going to be deleted, with an event for each.
 * @param kept the relations that receive the costs instead, by the id of the deleted one.
 */
export async function deleteCostsOfRelations(
  work: Work,
  relations: RelationEnds,
  kept: ReadonlyMap<string, string> = new Map(),
): Promise<void> {
  const ids = [...relations.keys()];
  if (ids.length === 0) return;
  const moved = ids.filter((id) => kept.has(id));
  const changed = await query(work.sql).rows<{ before: CostRow; after: CostRow }>`update costs t
    set relation_id = v.kept, updated_at = clock_timestamp()
    from unnest(${moved}::uuid[], ${moved.map((id) => kept.get(id)!)}::uuid[]) as v (id, kept)
    where t.relation_id = v.id returning to_jsonb(old) as before, to_jsonb(new) as after`;
  for (const { before, after } of changed) {
    const { source, target } = relations.get(before.relation_id!)!;
    work.emit(costEvent({ card: source, target }, before, after));
  }
  const rows = await deleteRowsOfCards<CostRow>(work, 'costs', ids, 'relation_id');
  for (const row of rows) {
    const { source, target } = relations.get(row.relation_id!)!;
    work.emit(costEvent({ card: source, target }, row, null));
  }
  if (changed.length + rows.length > 0) work.raise(COSTS_TOPIC);
}
