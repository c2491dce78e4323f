import type { RemoteRecord } from '../remote.types.ts';
import { redirected } from './book.ts';
import type { Pair } from './book.types.ts';
import { type Match, matchRecords, type Scorer, type Thing } from './match.ts';
import { identityKey, type LocalView, localFields, localView } from './normalise.ts';
import type { LocalCard } from './observation.types.ts';
import { planCreateLocal, planCreateRemote } from './plan.create.ts';
import { addRow, cardOfPair, type Planning } from './plan.draft.ts';
import { agreedFields, compareFields, planFields } from './plan.fields.ts';

/** Plans what has no pair yet: links, cards and records to be made, and what a person has to look at. */
export function planUnmatched(planning: Planning, score: Scorer): void {
  const records = openRecords(planning);
  const cards = openCards(planning);
  const views = new Map(
    records.map((record) => [record.id, localView(planning.mapping, record, planning.around)]),
  );
  const matches = matchRecords(
    planning.mapping,
    {
      records: records.map(({ id }) => ({ id, fields: views.get(id)!.fields })),
      cards: cards.map((card) => thing(planning, card)),
      bound: boundThings(planning),
    },
    planning.seen.decisions,
    score,
  );
  const held = new Set<string>();
  for (const record of records) {
    planRecord(planning, record, views.get(record.id)!, matches.get(record.id)!, held);
  }
  planCards(planning, cards, held);
}

/** What is paired already, as its card is now and as both sides last agreed; a move of an identity field is under way. */
function boundThings(planning: Planning): Thing[] {
  return [...planning.identities.primary].flatMap(([id, { base }]) => {
    const card = cardOfPair(planning, id);
    if (!card) return [];
    const now = thing(planning, card);
    const agreed = Object.entries(base).map(([path, { local }]) => [path, local] as const);
    const before = { id, fields: { ...now.fields, ...Object.fromEntries(agreed) } };
    const { fields } = planning.mapping;
    return identityKey(fields, now.fields) === identityKey(fields, before.fields) ? [now] : [now, before];
  });
}

const thing = ({ mapping }: Planning, card: LocalCard): Thing => ({
  id: card.id,
  fields: localFields(mapping, card),
});

/** Records without a pair, and those whose card is gone for good: these may be linked, but not made again. */
function openRecords({ book, index, seen, rows }: Planning): RemoteRecord[] {
  const claimed = new Set(rows.filter(({ action }) => action === 'link').map(({ remoteId }) => remoteId));
  return [...index.records.values()].filter((record) => {
    if (record.deleted || index.tombstones.has(record.id) || claimed.has(record.id)) return false;
    const pair = book.pairs.get(record.id);
    if (!pair) return true;
    if (pair.state.kind !== 'ended' || pair.state.gone !== 'local') return false;
    const card = seen.local.cards.get(redirected(pair.cardId, seen.local.redirects));
    return !card || card.archived;
  });
}

function openCards({ mapping, seen, identities, apart }: Planning): LocalCard[] {
  return [...seen.local.cards.values()].filter(
    (card) =>
      card.type === mapping.cardType &&
      !card.archived &&
      card.inFilter &&
      !seen.local.redirects.has(card.id) &&
      !identities.primary.has(card.id) &&
      !apart.has(card.id),
  );
}

/** Pairs of a card whose record is gone: it may find a new record, but none is made for it. */
const endedPairs = ({ pairsOf }: Planning, cardId: string): Pair[] =>
  (pairsOf.get(cardId) ?? []).filter(
    (pair) => pair.cardId === cardId && pair.state.kind === 'ended' && pair.state.gone === 'remote',
  );

function planRecord(
  planning: Planning,
  record: RemoteRecord,
  view: LocalView,
  match: Match,
  held: Set<string>,
): void {
  const { mapping, book, seen } = planning;
  if (match.kind === 'link') {
    held.add(match.cardId);
    planLink(planning, record, seen.local.cards.get(match.cardId)!, match.why);
    return;
  }
  if (match.kind === 'stage') {
    for (const { cardId } of match.candidates) held.add(cardId);
    planning.again.add(record.id);
    const { candidates, why } = match;
    addRow(planning, { action: 'stage', remoteId: record.id, reason: why, candidates });
    return;
  }
  if (mapping.direction === 'push' || book.pairs.has(record.id)) return;
  planCreateLocal(planning, record, view, 'The record has no card');
}

function planLink(planning: Planning, record: RemoteRecord, card: LocalCard, why: string): void {
  const compared = { remoteId: record.id, card, record, base: {} };
  const fields = compareFields(planning, compared);
  const link = addRow(planning, {
    action: 'link',
    remoteId: record.id,
    cardId: card.id,
    reason: `They are one: ${why}`,
    expects: {
      pair: planning.book.pairs.get(record.id)?.state.kind ?? 'none',
      unbound: true,
      card: { there: true, fields: {} },
    },
    agreed: agreedFields(fields),
    drops: endedPairs(planning, card.id).map(({ remoteId }) => remoteId),
    origin: 'linked',
  });
  planFields(planning, compared, fields, link);
}

function planCards(planning: Planning, cards: readonly LocalCard[], held: ReadonlySet<string>): void {
  const { mapping, seen } = planning;
  if (mapping.direction === 'pull') return;
  // a record that is there but was not read would get a double
  if (seen.remote.kind === 'part' || (mapping.direction === 'push' && seen.remote.kind === 'delta')) return;
  const keyOf = ({ fields }: Thing) => identityKey(mapping.fields, fields);
  const taken = new Map<string | null, string>();
  for (const one of boundThings(planning)) taken.set(keyOf(one), `card ${one.id}`);
  for (const record of planning.index.records.values()) {
    if (record.deleted || planning.index.tombstones.has(record.id)) continue;
    const { fields } = localView(mapping, record, planning.around);
    taken.set(keyOf({ id: record.id, fields }), `record ${record.id}`);
  }
  for (const card of cards) {
    if (held.has(card.id) || endedPairs(planning, card.id).length > 0) continue;
    const key = keyOf(thing(planning, card));
    const double = key === null ? undefined : taken.get(key);
    if (double === undefined) {
      planCreateRemote(planning, card, 'The card has no record');
      taken.set(key, `card ${card.id}`);
      continue;
    }
    const reason = `The same identity fields are those of ${double}; they may be one`;
    addRow(planning, { action: 'stage', cardId: card.id, reason });
  }
}
