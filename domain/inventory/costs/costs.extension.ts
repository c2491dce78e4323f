import { query } from '../../../platform/database.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs, type UndoneEvent } from '../../kernel/undo/undo.types.ts';
import { lockCards } from '../cards/cards.load.ts';
import { EDIT } from '../cards/cards.write.ts';
import { MANAGE } from '../relations/relations.admit.ts';
import { costKeys, deleteCostsOfCards } from './costs.attached.ts';
import { costsRefreshJob } from './costs.job.ts';
import { COSTS_TOPIC, Cost } from './costs.model.ts';
import { lockEnds, refreshCardCosts, refreshRelationCosts } from './costs.sums.ts';

/** Updates the annual costs of the cards and relations that an undone event concerns. */
async function settle(work: Work, ctx: Ctx, event: UndoneEvent): Promise<null> {
  const row = await query(work.sql).row<{ card_id: string | null; relation_id: string | null }>`select
    card_id, relation_id from costs where id = ${event.id}::uuid`;
  const idsOf = (column: 'card_id' | 'relation_id') => {
    const { old, new: present } = event.data.changes[column] ?? {};
    return [...new Set([row?.[column], old, present].filter((id) => typeof id === 'string'))];
  };
  const cards = idsOf('card_id');
  // a later merge may have moved a cost whose event names the card that it belonged to
  if (event.event_type.startsWith('cost.') && event.card_id && !cards.includes(event.card_id)) {
    cards.push(event.card_id);
  }
  await lockCards(work, cards);
  await refreshCardCosts(work, ctx, cards);
  const relations = idsOf('relation_id');
  if (relations.length > 0) {
    await refreshRelationCosts(work, ctx, relations, await lockEnds(work, relations));
  }
  return null;
}

const [card, relation] = [rowEvents('cost'), rowEvents('relation_cost')];

/** Costs of cards and relations by period. */
export const costsExtension: Extension = {
  resources: [
    {
      model: Cost,
      name: 'cost',
      events: {
        created: [...card.created, ...relation.created],
        updated: [...card.updated, ...relation.updated],
        deleted: [...card.deleted, ...relation.deleted],
      },
      card: 'card_id',
      topics: [COSTS_TOPIC],
      undo: {
        right: needs(EDIT),
        rights: Object.fromEntries(
          Object.values(relation)
            .flat()
            .map((type) => [type, needs(MANAGE)]),
        ),
        settle,
      },
      cardReferences: [{ column: 'card_id' }],
      transfer: {
        costs: costKeys,
        matches: [['%.external_id']],
        ofRelations: { created: 'relation_cost.created', updated: 'relation_cost.updated' },
      },
      asOf: true,
    },
  ],
  jobs: [costsRefreshJob],
  deleteWithCards: deleteCostsOfCards,
};
