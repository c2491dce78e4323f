import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { may } from '../../../domain/kernel/permissions/policy.ts';
import { type CardChanges, changedCards, changedEnds, once } from './changes.cards.ts';
import type { EventKinds } from './changes.kinds.ts';

/**
 * The relations that may look different than at a position, those that are gone among them: rows of `id`, `type`,
 * `position` and `told`.
 * @param cards what of the cards at their ends. @param told types of which the caller may have been told before.
 */
export function changedRelations(ctx: Ctx, cards: CardChanges, told: string[], kinds: EventKinds): Fragment {
  const ends = cards.filtered
    ? changedCards(cards, kinds)
    : changedEnds(cards, may(ctx.caller, 'costs.view'));
  const types = [...cards.moved.relationTypes];
  const parts: Fragment[] = [
    {
      sql: `select e.relation_id as id, e.relation_type as type, e.position, e.relation_type = any(?::text[])
              and e.card_type = any(?::text[]) and e.peer_card_type = any(?::text[]) as told
            from events e where e.position > ?::bigint and e.event_type like 'relation.%'`,
      bindings: [told, cards.told, cards.told, cards.after],
    },
    {
      sql: `select r.id, r.type, k.position, k.told and r.type = any(?::text[])
            from (${ends.sql}) k join relations r on k.id in (r.source_id, r.target_id)`,
      bindings: [told, ...ends.bindings],
    },
  ];
  if (types.length > 0) {
    parts.push({
      sql: `select r.id, r.type, m.position, r.type = any(?::text[])
            from unnest(?::text[], ?::bigint[]) as m (type, position) join relations r on r.type = m.type`,
      bindings: [told, types.map(([key]) => key), types.map(([, position]) => position)],
    });
  }
  return once({
    sql: parts.map(({ sql }) => sql).join('\nunion all\n'),
    bindings: parts.flatMap(({ bindings }) => bindings),
  });
}
