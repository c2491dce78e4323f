import { hash } from 'node:crypto';
import type { FieldMapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import {
  type ConvertedRecord,
  canonical,
  convertRecord,
  identityKey,
  isEqual,
  localFields,
  remoteFields,
} from './fields.ts';
import type { Agreed, LocalCard, Pair, Path } from './model.types.ts';
import { agreedFields, compareFields, planFields } from './plan.fields.ts';
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
export const endedPairs = ({ pairsByCard }: Planning, cardId: string): Pair[] =>
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

export const newValues = (values: Record<Path, Value>) =>
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

/** Records and cards with equal identity fields. */
export interface IdentityGroup {
  /** The number of records without a pair. */
  records: number;
  /** Cards without and with a pair. */
  cards: readonly string[];
  paired: readonly string[];
}

/** Groups records and cards by their identity fields. It contains only ids, so that it can index a whole table. */
export interface IdentityIndex {
  addRecord(record: MatchItem): void;
  addCard(card: MatchItem): void;
  addPaired(card: MatchItem): void;
  /** Undefined if not all identity fields are filled, or the group is empty. */
  find(item: MatchItem): IdentityGroup | undefined;
}

const none: readonly string[] = [];

export function identityIndex(fields: readonly FieldMapping[]): IdentityIndex {
  const groups = new Map<string, IdentityGroup>();
  const change = (item: MatchItem, step: (group: IdentityGroup) => IdentityGroup) => {
    const key = hashIdentity(fields, item);
    if (key === null) return;
    const group = groups.get(key) ?? { records: 0, cards: none, paired: none };
    groups.set(key, step(group));
  };
  return {
    addRecord: (record) => change(record, (group) => ({ ...group, records: group.records + 1 })),
    addCard: (card) => change(card, (group) => ({ ...group, cards: [...group.cards, card.id] })),
    addPaired: (card) => change(card, (group) => ({ ...group, paired: [...group.paired, card.id] })),
    find: (item) => {
      const key = hashIdentity(fields, item);
      return key === null ? undefined : groups.get(key);
    },
  };
}

/** A hash of the identity fields: 72 bits make collisions improbable. Null unless all of them are filled. */
export function hashIdentity(fields: readonly FieldMapping[], item: MatchItem): string | null {
  const key = identityKey(fields, item.fields);
  return key === null ? null : hash('sha256', key, 'base64url').slice(0, 12);
}

/** Matches a record by the group of its identity; undefined if there is no candidate. */
export function matchByIdentity(group: IdentityGroup | undefined): Match | undefined {
  if (!group) return undefined;
  const { records, cards, paired } = group;
  if (records === 1 && cards.length === 1 && paired.length === 0) {
    return { kind: 'link', cardId: cards[0]!, reason: 'their identity fields are equal' };
  }
  const candidates = [...cards, ...paired].map((cardId) => ({ cardId, score: 1, why: 'same identity' }));
  if (candidates.length === 0 && records === 1) return undefined;
  return { kind: 'stage', candidates, reason: describeAmbiguity(group) };
}

function describeAmbiguity({ records, cards, paired }: IdentityGroup): string {
  if (records > 1) return `${records} records have these identity fields`;
  if (paired.length > 0) return 'a card with these identity fields belongs to another record';
  return `${cards.length} cards have these identity fields`;
}
