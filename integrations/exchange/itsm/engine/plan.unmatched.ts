import { hash } from 'node:crypto';
import type { FieldMapping, Mapping, Value } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import {
  canonical,
  convertCard,
  convertRecord,
  identityKey,
  isEqual,
  localFields,
  mapValues,
  remoteFields,
} from './fields.ts';
import type { LocalCard, Pair, Path, Side } from './model.types.ts';
import { agreedFields, compareFields, planFields, recordStateOf } from './plan.fields.ts';
import type { Match, MatchItem, PlanRow } from './plan.types.ts';
import { addRow, defer, findActiveCard, type Planning, survivorOf } from './state.ts';

/** Records that rows of the plan link. */
export const linkedRecords = ({ rows }: Planning): string[] =>
  rows.flatMap(({ action, remoteId }) => (action === 'link' && remoteId !== null ? [remoteId] : []));

/** A record as input of matching. */
export const itemOfRecord = ({ mapping, transformContext }: Planning, record: RemoteRecord): MatchItem => ({
  id: record.id,
  fields: convertRecord(mapping, record, transformContext).fields,
});

/** Records that were read and exist; one with a tombstone only if it was found when it was read by key. */
export const readRecords = ({ index }: Planning): RemoteRecord[] =>
  [...index.records.values()].filter(
    ({ id, deleted }) =>
      !deleted && (!index.tombstones.has(id) || index.remote.lookups.get(id)?.kind === 'there'),
  );

/**
 * The cards of live pairs with their present values; if an identity field has changed, also with the values of the base.
 * @param only the records whose pairs are returned; the other pairs are only context.
 */
export function pairedItems(planning: Planning, only: ReadonlySet<string>): MatchItem[] {
  return [...planning.pairIndex.primary].flatMap(([id, { remoteId, base }]) => {
    const card = only.has(remoteId) ? findActiveCard(planning, id) : undefined;
    if (!card) return [];
    const now = itemOfCard(planning, card);
    const before = { id, fields: { ...now.fields, ...mapValues(base, ({ local }) => local) } };
    const { fields } = planning.mapping;
    return identityKey(fields, now.fields) === identityKey(fields, before.fields) ? [now] : [now, before];
  });
}

/** Cards that the planned rows restore, with the values of both sides. Another record with their identity is a duplicate. */
export function restoredItems(planning: Planning): MatchItem[] {
  const { rows, observation, index, mapping, pairIndex } = planning;
  return rows.flatMap(({ action, cardId, remoteId }) => {
    const card = cardId === null ? undefined : observation.local.cards.get(cardId);
    if (!card || (action !== 'restore' && action !== 'release')) return [];
    // an active card with a live pair is among the paired items already
    if (!card.archived && pairIndex.primary.has(card.id)) return [];
    const here = itemOfCard(planning, card);
    const record = remoteId === null ? undefined : index.records.get(remoteId);
    if (!record) return [here];
    const there = { ...itemOfRecord(planning, record), id: card.id };
    const isSame = identityKey(mapping.fields, here.fields) === identityKey(mapping.fields, there.fields);
    return isSame ? [here] : [here, there];
  });
}

/** A card as input of matching. */
export const itemOfCard = ({ mapping }: Planning, card: LocalCard): MatchItem => ({
  id: card.id,
  fields: localFields(mapping, card),
});

/**
 * Records without a pair, and records whose card is gone. The latter can be linked with another card, but no card is created for
 * them unless the record was gone too and its card is deleted or belongs to another record.
 */
export function unpairedRecords(planning: Planning, claimed: ReadonlySet<string>): RemoteRecord[] {
  const { syncState, observation, pairIndex } = planning;
  return readRecords(planning).filter((record) => {
    if (claimed.has(record.id)) return false;
    const pair = syncState.pairs.get(record.id);
    if (!pair) return true;
    const cardId = survivorOf(pair.cardId, observation.local.redirects);
    const card = observation.local.cards.get(cardId);
    if (pair.state.kind === 'removed') return !card || pairIndex.primary.has(cardId);
    if (pair.state.kind !== 'ended' || pair.state.gone !== 'local') return false;
    return !card || card.archived;
  });
}

/** Cards that can be paired. */
export function unpairedCards(planning: Planning): LocalCard[] {
  const {
    mapping,
    observation,
    pairIndex,
    unmappedCards,
    totals: { reserved },
  } = planning;
  return [...observation.local.cards.values()].filter(
    (card) =>
      card.type === mapping.card_type_key &&
      !card.archived &&
      card.inFilter &&
      !observation.local.redirects.has(card.id) &&
      !pairIndex.primary.has(card.id) &&
      !unmappedCards.has(card.id) &&
      !reserved.has(card.id),
  );
}

/** Pairs of a card whose record is gone: it can be linked with a new record, but none is created for it. */
const endedPairs = ({ pairsByCard }: Planning, cardId: string): Pair[] =>
  (pairsByCard.get(cardId) ?? []).filter(
    (pair) => pair.cardId === cardId && pair.state.kind === 'ended' && pair.state.gone === 'remote',
  );

/** Plans a record without a pair by its match. Adds the cards that the match claims to `claimedCards`. */
export function planRecord(
  planning: Planning,
  record: RemoteRecord,
  match: Match,
  claimedCards: Set<string>,
): void {
  const { mapping, syncState, observation } = planning;
  const stage = (candidates: PlanRow['candidates'], reason: string) => {
    const diff = newValues(itemOfRecord(planning, record).fields);
    addRow(planning, { action: 'stage', remoteId: record.id, reason, candidates, diff });
    planning.totals.again.add(record.id);
  };
  const original = observation.duplicates?.get(record.id);
  if (original && !observation.decisions.some(({ remoteId }) => remoteId === record.id)) {
    const why = `It has the correlation id of record ${original.of}, which was created for the card`;
    const reason = `${why}: the request may have been sent twice. Remove one of the two records at the remote`;
    stage([{ cardId: original.cardId, score: 1, why }], reason);
  } else if (match.kind === 'link') {
    claimedCards.add(match.cardId);
    planNewPair(planning, record, observation.local.cards.get(match.cardId)!, match.reason);
  } else if (match.kind === 'stage') {
    for (const { cardId } of match.candidates) claimedCards.add(cardId);
    stage(match.candidates, match.reason);
  } else {
    const known = syncState.pairs.get(record.id);
    const isNew = !known || known.state.kind === 'removed';
    if (mapping.sync_direction !== 'push' && isNew) planCreateLocal(planning, record);
  }
}

function planNewPair(planning: Planning, record: RemoteRecord, card: LocalCard, why: string): void {
  const compared = { remoteId: record.id, card, record, base: {} };
  const fields = compareFields(planning, compared);
  const link = addRow(planning, {
    action: 'link',
    remoteId: record.id,
    cardId: card.id,
    reason: `The record and the card correspond: ${why}`,
    expects: {
      pair: planning.syncState.pairs.get(record.id)?.state.kind ?? 'none',
      unbound: true,
      card: { there: true, fields: {} },
    },
    agreed: agreedFields(fields),
    drops: endedPairs(planning, card.id).map(({ remoteId }) => remoteId),
    origin: 'linked',
  });
  planFields(planning, compared, fields, link);
}

/** The filled values, as new ones. */
const newValues = (values: Record<Path, Value>): PlanRow['diff'] =>
  mapValues(values, (value) => (canonical(value) === null ? undefined : { old: null, new: value }));

/** The values that a row writes, by path. */
export const writtenValues = (diff: PlanRow['diff']): Record<Path, Value> =>
  mapValues(diff, ({ new: value }) => value);

/**
 * Plans a card or a record for an object without one. Values that cannot be converted yet are omitted, and written when they can.
 * What a side has refused with the same values remains a review item.
 * @param source the values of the object, by path.
 */
function planCreation(
  planning: Planning,
  side: Side,
  ids: { remoteId: string | null; cardId: string | null },
  { fields, problems, awaitedIds }: ReturnType<typeof convertRecord>,
  source: Record<Path, Value>,
  draft: Pick<PlanRow, 'reason' | 'expects' | 'origin' | 'diff'>,
): void {
  const refusal = planning.observation.refusals?.find(
    ({ remoteId, cardId, path, values }) =>
      remoteId === ids.remoteId &&
      cardId === ids.cardId &&
      path === null &&
      isEqual(canonical(values.remote), canonical(writtenValues(draft.diff))),
  );
  if (refusal) {
    if (ids.remoteId !== null) planning.totals.again.add(ids.remoteId);
    const { reason, side: refusedBy } = refusal;
    addRow(planning, { ...ids, action: 'stage', reason, diff: draft.diff, refusedBy });
    return;
  }
  const both = (path: Path, converted: Value) => {
    const values = { local: source[path] ?? null, remote: source[path] ?? null };
    return { ...values, [side]: converted };
  };
  const why = Object.values(problems);
  const row = addRow(planning, {
    ...ids,
    action: 'create',
    side,
    agreed: mapValues(fields, (value, path) => both(path, value)),
    ...draft,
    reason: why.length > 0 ? `${draft.reason}; omitted: ${why.join(', ')}` : draft.reason,
  });
  for (const path of Object.keys(problems)) {
    const awaitedId = awaitedIds[path];
    if (ids.remoteId !== null) defer(planning, ids.remoteId, side, awaitedId);
    if (awaitedId === undefined) continue;
    const values = both(path, canonical(row.diff[path]?.new));
    const reference = { ...ids, needs: row.no, side, path, values, base: null, settled: false, awaitedId };
    planning.totals.openReferences.push(reference);
  }
}

/** Plans a card for a record without one. */
function planCreateLocal(planning: Planning, record: RemoteRecord): void {
  const { mapping, syncState, transformContext } = planning;
  const converted = convertRecord(mapping, record, transformContext);
  const { fields, problems } = converted;
  if (fields.name == null) {
    planning.totals.again.add(record.id);
    const reason = `No card can be created: ${problems.name ?? 'it has no name'}`;
    addRow(planning, { action: 'skip', remoteId: record.id, reason });
    return;
  }
  const filled = mapValues(fields, (value) => value ?? undefined);
  const diff = newValues({ ...mapping.card_defaults, ...filled });
  const ids = { remoteId: record.id, cardId: null };
  planCreation(planning, 'local', ids, converted, remoteFields(mapping, record), {
    diff,
    reason: 'The record has no card',
    expects: { pair: syncState.pairs.get(record.id)?.state.kind ?? 'none' },
    origin: 'pulled',
  });
}

/** Records and cards with equal identity fields. */
export interface IdentityGroup {
  /** Records without a pair. */
  records: string[];
  /** Cards without and with a pair. */
  cards: string[];
  paired: string[];
}

/** Groups records and cards by their identity fields. It contains only ids, so that it can index a whole table. */
export type IdentityIndex = ReturnType<typeof identityIndex>;

export function identityIndex(fields: readonly FieldMapping[]) {
  const groups = new Map<string, IdentityGroup>();
  return {
    add(kind: keyof IdentityGroup, item: MatchItem): void {
      const key = hashIdentity(fields, item);
      if (key === null) return;
      const group = groups.get(key) ?? { records: [], cards: [], paired: [] };
      groups.set(key, group);
      group[kind].push(item.id);
    },
    /** Undefined if not all identity fields are filled, or the group is empty. */
    find: (item: MatchItem): IdentityGroup | undefined => groups.get(hashIdentity(fields, item) ?? ''),
  };
}

/** A hash of the identity fields: 72 bits make collisions improbable. Null unless all of them are filled. */
function hashIdentity(fields: readonly FieldMapping[], item: MatchItem): string | null {
  const key = identityKey(fields, item.fields);
  return key === null ? null : hash('sha256', key, 'base64url').slice(0, 12);
}

/** Matches a record by the group of its identity; undefined if there is no candidate. */
export function matchByIdentity(group: IdentityGroup | undefined): Match | undefined {
  if (!group) return undefined;
  const { records, cards, paired } = group;
  if (records.length === 1 && cards.length === 1 && paired.length === 0) {
    return { kind: 'link', cardId: cards[0]!, reason: 'their identity fields are equal' };
  }
  const candidates = [...cards, ...paired].map((cardId) => ({ cardId, score: 1, why: 'same identity' }));
  if (candidates.length === 0 && records.length === 1) return undefined;
  return { kind: 'stage', candidates, reason: describeAmbiguity(group) };
}

function describeAmbiguity({ records, cards, paired }: IdentityGroup): string {
  if (records.length > 1) return `${records.length} records have these identity fields`;
  if (paired.length > 0) return 'a card with these identity fields belongs to another record';
  return `${cards.length} cards have these identity fields`;
}

/**
 * Records that were not read and have a pair, but are not the primary record of an active card, with the values of the base.
 * @param only the records that are returned; the other pairs are only context.
 */
export function unreadItems(planning: Planning, only: ReadonlySet<string>): MatchItem[] {
  const { syncState, observation, mapping, index, pairIndex } = planning;
  return [...syncState.pairs.values()].flatMap((pair) => {
    const { remoteId: id, state, base } = pair;
    if (!only.has(id) || state.kind === 'removed') return [];
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
    if (owner.kind === 'record') planning.totals.again.add(owner.id);
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
