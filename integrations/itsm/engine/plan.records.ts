import type { Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import { localFields, toRemote } from './fields.ts';
import type { Agreed, LocalCard, Path } from './model.types.ts';
import { recordStateOf } from './plan.fields.ts';
import type { MatchItem } from './plan.types.ts';
import { endedPairs, hashIdentity, itemOfCard, newValues } from './plan.unmatched.ts';
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
    return [
      { id, fields: Object.fromEntries(Object.entries(base).map(([path, { local }]) => [path, local])) },
    ];
  });
}

/** Finds the object that already has the same identity: the first by id, records before cards. */
export interface IdentityOwners {
  addRecord(record: MatchItem): void;
  addCard(card: MatchItem): void;
  find(thing: MatchItem): { kind: 'record' | 'card'; id: string } | undefined;
}

export function createIdentityOwners({ fields }: Mapping): IdentityOwners {
  const owners = { record: new Map<string, string>(), card: new Map<string, string>() };
  const add = (kind: keyof typeof owners, one: MatchItem) => {
    const key = hashIdentity(fields, one);
    const other = key === null ? undefined : owners[kind].get(key);
    if (key !== null && (other === undefined || one.id < other)) owners[kind].set(key, one.id);
  };
  return {
    addRecord: (record) => add('record', record),
    addCard: (card) => add('card', card),
    find: (one) => {
      const key = hashIdentity(fields, one);
      if (key === null) return undefined;
      for (const kind of ['record', 'card'] as const) {
        const id = owners[kind].get(key);
        if (id !== undefined) return { kind, id };
      }
      return undefined;
    },
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
      planCreateRemote(planning, card, 'The card has no record');
      owners.addCard(item);
      continue;
    }
    const reason = `${owner.kind === 'card' ? 'Card' : 'Record'} ${owner.id} has the same identity fields; they may be the same object`;
    addRow(planning, { action: 'stage', cardId: card.id, reason });
    // without the record in its delta, the next run would create another one for the card
    if (owner.kind === 'record') planning.again.add(owner.id);
  }
}

/** Plans a record for a card without one. */
function planCreateRemote(planning: Planning, card: LocalCard, reason: string): void {
  const { mapping, transformContext } = planning;
  const values: Record<Path, Value> = {};
  const agreed: Record<Path, Agreed> = {};
  const problems: string[] = [];
  const awaited: { path: Path; awaitedId: string }[] = [];
  const locals = localFields(mapping, card);
  for (const field of mapping.fields) {
    const local = locals[field.card_field] ?? null;
    const converted = toRemote(field, local, transformContext);
    if (!converted.ok) {
      problems.push(converted.problem);
      if (converted.awaitedId !== undefined)
        awaited.push({ path: field.card_field, awaitedId: converted.awaitedId });
    } else {
      values[field.card_field] = converted.value;
      agreed[field.card_field] = { local, remote: converted.value };
    }
  }
  const omitted = problems.length > 0 ? `; omitted: ${problems.join(', ')}` : '';
  const row = addRow(planning, {
    action: 'create',
    side: 'remote',
    cardId: card.id,
    reason: `${reason}${omitted}`,
    diff: newValues(values),
    expects: { unbound: true, card: { there: true, fields: locals } },
    agreed,
    origin: 'pushed',
  });
  for (const one of awaited) {
    const values = { local: locals[one.path] ?? null, remote: null };
    const ids = { remoteId: null, cardId: card.id, needs: row.no };
    planning.openReferences.push({ ...one, ...ids, side: 'remote', values, base: null, settled: false });
  }
}
