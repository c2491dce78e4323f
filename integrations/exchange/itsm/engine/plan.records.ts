import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import { convertCard, localFields, mapValues } from './fields.ts';
import type { LocalCard } from './model.types.ts';
import { recordStateOf } from './plan.fields.ts';
import type { MatchItem } from './plan.types.ts';
import { endedPairs, hashIdentity, itemOfCard, newValues, planCreation } from './plan.unmatched.ts';
import { addRow, findActiveCard, type Planning, survivorOf } from './state.ts';

/**
 * Records that were not read and have a pair, but are not the primary record of an active card, with the values of the base.
 * @param only the records that are returned; the other pairs are only context.
 */
export function unreadItems(planning: Planning, only?: ReadonlySet<string>): MatchItem[] {
  const { syncState, observation, mapping, index, pairIndex } = planning;
  return [...syncState.pairs.values()].flatMap((pair) => {
    const { remoteId: id, state, base } = pair;
    if ((only && !only.has(id)) || state.kind === 'removed') return [];
    if ('gone' in state && state.gone === 'remote') return [];
    const cardId = survivorOf(pair.cardId, observation.local.redirects);
    const isPaired = pairIndex.primary.get(cardId) === pair && findActiveCard(planning, cardId);
    if (isPaired || recordStateOf(pair, mapping, index).kind !== 'unread') return [];
    return [{ id, fields: mapValues(base, ({ local }) => local) }];
  });
}

/** Finds the object that already has the same identity: the first by id, records before cards. */
export type IdentityOwners = ReturnType<typeof createIdentityOwners>;

export function createIdentityOwners({ fields }: Mapping) {
  const owners = new Map<string, { kind: 'record' | 'card'; id: string }>();
  return {
    add(kind: 'record' | 'card', item: MatchItem): void {
      const { id } = item;
      const key = hashIdentity(fields, item);
      if (key === null) return;
      const other = owners.get(key);
      if (!other || (kind === other.kind ? id < other.id : kind === 'record')) owners.set(key, { kind, id });
    },
    find: (item: MatchItem) => owners.get(hashIdentity(fields, item) ?? ''),
  };
}

/** Plans records for cards without a record, unless another object has the same identity. */
export function planCards(
  planning: Planning,
  cards: readonly LocalCard[],
  claimedCards: ReadonlySet<string>,
  owners: IdentityOwners,
): void {
  for (const card of cards) {
    if (claimedCards.has(card.id) || endedPairs(planning, card.id).length > 0) continue;
    const item = itemOfCard(planning, card);
    const owner = owners.find(item);
    if (owner === undefined) {
      planCreateRemote(planning, card);
      owners.add('card', item);
      continue;
    }
    const reason = `${owner.kind === 'card' ? 'Card' : 'Record'} ${owner.id} has the same identity fields; they may be the same object`;
    addRow(planning, { action: 'stage', cardId: card.id, reason });
    // without the record in its delta, the next run would create another one for the card
    if (owner.kind === 'record') planning.again.add(owner.id);
  }
}

/** Plans a record for a card without one. */
function planCreateRemote(planning: Planning, card: LocalCard): void {
  const { mapping, transformContext } = planning;
  const locals = localFields(mapping, card);
  const converted = convertCard(mapping, card, transformContext);
  planCreation(planning, 'remote', { remoteId: null, cardId: card.id }, converted, locals, {
    diff: newValues(converted.fields),
    reason: 'The card has no record',
    expects: { unbound: true, card: { there: true, fields: locals } },
    origin: 'pushed',
  });
}
