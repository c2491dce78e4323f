import type { Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import {
  type ConvertedRecord,
  convertRecord,
  identityKey,
  localFields,
  remoteFields,
  toRemote,
} from './fields.ts';
import { hashIdentity, type Match, type MatchItem } from './match.ts';
import type { Agreed, LocalCard, Pair, Path } from './model.types.ts';
import {
  addRow,
  agreedFields,
  compareFields,
  defer,
  findActiveCard,
  type Planning,
  planFields,
} from './plan.fields.ts';
import type { PlanRow } from './plan.types.ts';
import { recordStateOf, survivorOf } from './state.ts';
import { canonical, isEqual } from './values.ts';

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
export function pairedItems(planning: Planning, only?: ReadonlySet<string>): MatchItem[] {
  return [...planning.pairIndex.primary].flatMap(([id, { remoteId, base }]) => {
    const card = only && !only.has(remoteId) ? undefined : findActiveCard(planning, id);
    if (!card) return [];
    const now = itemOfCard(planning, card);
    const agreed = Object.entries(base).map(([path, { local }]) => [path, local] as const);
    const before = { id, fields: { ...now.fields, ...Object.fromEntries(agreed) } };
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
export function unpairedCards({
  mapping,
  observation,
  pairIndex,
  unmappedCards,
  reserved,
}: Planning): LocalCard[] {
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

/** The values of a record, for the user who decides which card it corresponds to. */
const recordValues = ({ fields }: MatchItem): PlanRow['diff'] =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([path, value]) =>
      canonical(value) === null ? [] : [[path, { old: null, new: value }]],
    ),
  );

/** Plans a record without a pair by its match. Adds the cards that the match claims to `claimedCards`. */
export function planRecord(
  planning: Planning,
  record: RemoteRecord,
  match: Match,
  claimedCards: Set<string>,
): void {
  const { mapping, syncState, observation } = planning;
  const original = observation.duplicates?.get(record.id);
  if (original && !observation.decisions.some(({ remoteId }) => remoteId === record.id)) {
    const why = `It has the correlation id of record ${original.of}, which was created for the card`;
    const reason = `${why}: the request may have been sent twice. Remove one of the two records at the remote`;
    const candidates = [{ cardId: original.cardId, score: 1, why }];
    const diff = recordValues(itemOfRecord(planning, record));
    addRow(planning, { action: 'stage', remoteId: record.id, reason, candidates, diff });
    planning.again.add(record.id);
    return;
  }
  if (match.kind === 'link') {
    claimedCards.add(match.cardId);
    planNewPair(planning, record, observation.local.cards.get(match.cardId)!, match.reason);
    return;
  }
  if (match.kind === 'stage') {
    for (const { cardId } of match.candidates) claimedCards.add(cardId);
    planning.again.add(record.id);
    const { candidates, reason } = match;
    const diff = recordValues(itemOfRecord(planning, record));
    addRow(planning, { action: 'stage', remoteId: record.id, reason, candidates, diff });
    return;
  }
  const known = syncState.pairs.get(record.id);
  if (mapping.sync_direction === 'push' || (known && known.state.kind !== 'removed')) return;
  const view = convertRecord(mapping, record, planning.transformContext);
  planCreateLocal(planning, record, view, 'The record has no card');
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

const newValues = (values: Record<Path, Value>) =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null)
      .map(([path, value]) => [path, { old: null, new: value }]),
  );

/** Plans a card for a record without one. Values that cannot be converted yet are omitted, and written when they can. */
function planCreateLocal(
  planning: Planning,
  record: RemoteRecord,
  view: ConvertedRecord,
  reason: string,
): void {
  const { mapping, syncState } = planning;
  const problems = Object.values(view.problems);
  if (view.fields.name == null) {
    planning.again.add(record.id);
    const why = view.problems.name ?? 'it has no name';
    addRow(planning, { action: 'skip', remoteId: record.id, reason: `No card can be created: ${why}` });
    return;
  }
  const remote = remoteFields(mapping, record);
  const agreed: Record<Path, Agreed> = {};
  for (const [path, local] of Object.entries(view.fields))
    agreed[path] = { local, remote: remote[path] ?? null };
  const omitted = problems.length > 0 ? `; omitted: ${problems.join(', ')}` : '';
  const values = withoutNull({ ...mapping.card_defaults, ...withoutNull(view.fields) });
  const diff = newValues(values);
  const refusal = planning.observation.refusals?.find(
    (one) =>
      one.remoteId === record.id &&
      one.path === null &&
      isEqual(canonical(one.values.remote), canonical(values)),
  );
  if (refusal) {
    planning.again.add(record.id);
    const { reason, side } = refusal;
    addRow(planning, { action: 'stage', remoteId: record.id, reason, diff, refusedBy: side });
    return;
  }
  const row = addRow(planning, {
    action: 'create',
    side: 'local',
    remoteId: record.id,
    reason: `${reason}${omitted}`,
    diff,
    expects: { pair: syncState.pairs.get(record.id)?.state.kind ?? 'none' },
    agreed,
    origin: 'pulled',
  });
  for (const path of Object.keys(view.problems)) {
    const awaitedId = view.awaitedIds[path];
    defer(planning, record.id, 'local', awaitedId);
    if (awaitedId === undefined) continue;
    const values = { local: canonical(row.diff[path]?.new), remote: remote[path] ?? null };
    const ids = { remoteId: record.id, cardId: null, needs: row.no };
    planning.openReferences.push({
      ...ids,
      side: 'local',
      path,
      values,
      base: null,
      settled: false,
      awaitedId,
    });
  }
}

const withoutNull = (values: Record<Path, Value>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

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
