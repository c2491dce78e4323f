import type { Mapping, Value } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RemoteRecord } from '../remote.ts';
import { identityKey, type LocalView, localFields, localView, remoteFields, toRemote } from './fields.ts';
import { identityHash, type Match, type Thing } from './match.ts';
import type { Agreed, LocalCard, Pair, Path } from './model.types.ts';
import {
  addRow,
  agreedFields,
  cardOfPair,
  compareFields,
  type Planning,
  planFields,
  wait,
} from './plan.fields.ts';
import type { PlanRow } from './plan.types.ts';
import { recordStateOf, redirected } from './state.ts';
import { canonical, same } from './values.ts';

/** Records that a row of the plan makes half of a pair. */
export const linkedRecords = ({ rows }: Planning): string[] =>
  rows.flatMap(({ action, remoteId }) => (action === 'link' && remoteId !== null ? [remoteId] : []));

/** A record as the inventory would hold it. */
export const recordThing = ({ mapping, around }: Planning, record: RemoteRecord): Thing => ({
  id: record.id,
  fields: localView(mapping, record, around).fields,
});

/** Records that were read and are there. What is called deleted counts only after a look that has found it. */
export const readRecords = ({ index }: Planning): RemoteRecord[] =>
  [...index.records.values()].filter(
    ({ id, deleted }) =>
      !deleted && (!index.tombstones.has(id) || index.reading.looks.get(id)?.kind === 'there'),
  );

/**
 * What is paired already, as its card is now and as both sides last agreed; a move of an identity field is under way.
 * @param only the records whose pairs are meant, where others are there to tell who is who.
 */
export function boundThings(planning: Planning, only?: ReadonlySet<string>): Thing[] {
  return [...planning.identities.primary].flatMap(([id, { remoteId, base }]) => {
    const card = only && !only.has(remoteId) ? undefined : cardOfPair(planning, id);
    if (!card) return [];
    const now = thing(planning, card);
    const agreed = Object.entries(base).map(([path, { local }]) => [path, local] as const);
    const before = { id, fields: { ...now.fields, ...Object.fromEntries(agreed) } };
    const { fields } = planning.mapping;
    return identityKey(fields, now.fields) === identityKey(fields, before.fields) ? [now] : [now, before];
  });
}

/** Cards that the rows so far have come back with their records, as each side tells them: another such record is a double. */
export function returningThings(planning: Planning): Thing[] {
  const { rows, seen, index, mapping, identities } = planning;
  return rows.flatMap(({ action, cardId, remoteId }) => {
    const card = cardId === null ? undefined : seen.local.cards.get(cardId);
    if (!card || (action !== 'restore' && action !== 'release')) return [];
    // one that is there, and half of a living pair, is bound in any case
    if (!card.archived && identities.primary.has(card.id)) return [];
    const here = thing(planning, card);
    const record = remoteId === null ? undefined : index.records.get(remoteId);
    if (!record) return [here];
    const there = { ...recordThing(planning, record), id: card.id };
    const isOne = identityKey(mapping.fields, here.fields) === identityKey(mapping.fields, there.fields);
    return isOne ? [here] : [here, there];
  });
}

/**
 * Records that have a pair, but no card that is kept in step with them, and were not read, as both sides last agreed.
 * @param only the records that are meant, where others are there to tell who is who.
 */
export function unreadThings(planning: Planning, only?: ReadonlySet<string>): Thing[] {
  const { syncState, seen, mapping, index, identities } = planning;
  return [...syncState.pairs.values()].flatMap((pair) => {
    const { remoteId: id, state, base } = pair;
    if ((only && !only.has(id)) || state.kind === 'removed') return [];
    if ('gone' in state && state.gone === 'remote') return [];
    const cardId = redirected(pair.cardId, seen.local.redirects);
    const isBound = identities.primary.get(cardId) === pair && cardOfPair(planning, cardId);
    if (isBound || recordStateOf(pair, mapping, index).kind !== 'unread') return [];
    return [
      { id, fields: Object.fromEntries(Object.entries(base).map(([path, { local }]) => [path, local])) },
    ];
  });
}

/** A card as matching sees it. */
export const thing = ({ mapping }: Planning, card: LocalCard): Thing => ({
  id: card.id,
  fields: localFields(mapping, card),
});

/**
 * Records without a pair, and those whose card is gone: these may be linked, but not made again unless the record was gone
 * as well, and its card is gone for good or belongs to another record by now.
 */
export function openRecords(planning: Planning, claimed: ReadonlySet<string>): RemoteRecord[] {
  const { syncState, seen, identities } = planning;
  return readRecords(planning).filter((record) => {
    if (claimed.has(record.id)) return false;
    const pair = syncState.pairs.get(record.id);
    if (!pair) return true;
    const cardId = redirected(pair.cardId, seen.local.redirects);
    const card = seen.local.cards.get(cardId);
    if (pair.state.kind === 'removed') return !card || identities.primary.has(cardId);
    if (pair.state.kind !== 'ended' || pair.state.gone !== 'local') return false;
    return !card || card.archived;
  });
}

/** Cards that may become half of a pair. */
export function openCards({ mapping, seen, identities, apart, reserved }: Planning): LocalCard[] {
  return [...seen.local.cards.values()].filter(
    (card) =>
      card.type === mapping.card_type_key &&
      !card.archived &&
      card.inFilter &&
      !seen.local.redirects.has(card.id) &&
      !identities.primary.has(card.id) &&
      !apart.has(card.id) &&
      !reserved.has(card.id),
  );
}

/** Pairs of a card whose record is gone: it may find a new record, but none is made for it. */
const endedPairs = ({ pairsOf }: Planning, cardId: string): Pair[] =>
  (pairsOf.get(cardId) ?? []).filter(
    (pair) => pair.cardId === cardId && pair.state.kind === 'ended' && pair.state.gone === 'remote',
  );

/** What a record says of itself, for whoever has to decide which card it is. */
const shown = ({ fields }: Thing): PlanRow['diff'] =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([path, value]) =>
      canonical(value) === null ? [] : [[path, { old: null, new: value }]],
    ),
  );

/** Plans a record without a pair by what it turned out to be. @param held takes up the cards that are spoken for. */
export function planRecord(planning: Planning, record: RemoteRecord, match: Match, held: Set<string>): void {
  const { mapping, syncState, seen } = planning;
  const copy = seen.copies?.get(record.id);
  if (copy && !seen.decisions.some(({ remoteId }) => remoteId === record.id)) {
    const why = `It carries the mark of record ${copy.of}, which was made for the card`;
    const reason = `${why}: the request may have been sent twice on its way. One of them should be removed there`;
    const candidates = [{ cardId: copy.cardId, score: 1, why }];
    const diff = shown(recordThing(planning, record));
    addRow(planning, { action: 'stage', remoteId: record.id, reason, candidates, diff });
    planning.again.add(record.id);
    return;
  }
  if (match.kind === 'link') {
    held.add(match.cardId);
    planLink(planning, record, seen.local.cards.get(match.cardId)!, match.why);
    return;
  }
  if (match.kind === 'stage') {
    for (const { cardId } of match.candidates) held.add(cardId);
    planning.again.add(record.id);
    const { candidates, why } = match;
    const diff = shown(recordThing(planning, record));
    addRow(planning, { action: 'stage', remoteId: record.id, reason: why, candidates, diff });
    return;
  }
  const known = syncState.pairs.get(record.id);
  if (mapping.sync_direction === 'push' || (known && known.state.kind !== 'removed')) return;
  const view = localView(mapping, record, planning.around);
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

/** Who has some identity fields already; where there are several, the first by id is told, records before cards. */
export interface IdentityTakers {
  addRecord(record: Thing): void;
  addCard(card: Thing): void;
  of(thing: Thing): { kind: 'record' | 'card'; id: string } | undefined;
}

export function identityTakers({ fields }: Mapping): IdentityTakers {
  const takers = { record: new Map<string, string>(), card: new Map<string, string>() };
  const add = (kind: keyof typeof takers, one: Thing) => {
    const key = identityHash(fields, one);
    const other = key === null ? undefined : takers[kind].get(key);
    if (key !== null && (other === undefined || one.id < other)) takers[kind].set(key, one.id);
  };
  return {
    addRecord: (record) => add('record', record),
    addCard: (card) => add('card', card),
    of: (one) => {
      const key = identityHash(fields, one);
      if (key === null) return undefined;
      for (const kind of ['record', 'card'] as const) {
        const id = takers[kind].get(key);
        if (id !== undefined) return { kind, id };
      }
      return undefined;
    },
  };
}

/** Plans records for cards that have none, unless another thing says the same in the identity fields. */
export function planCards(
  planning: Planning,
  cards: readonly LocalCard[],
  held: ReadonlySet<string>,
  takers: IdentityTakers,
): void {
  for (const card of cards) {
    if (held.has(card.id) || endedPairs(planning, card.id).length > 0) continue;
    const one = thing(planning, card);
    const double = takers.of(one);
    if (double === undefined) {
      planCreateRemote(planning, card, 'The card has no record');
      takers.addCard(one);
      continue;
    }
    const reason = `The same identity fields are those of ${double.kind} ${double.id}; they may be one`;
    addRow(planning, { action: 'stage', cardId: card.id, reason });
    // a delta that is without the record would make another one for the card
    if (double.kind === 'record') planning.again.add(double.id);
  }
}

const asNew = (values: Record<Path, Value>) =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([, value]) => value !== null)
      .map(([path, value]) => [path, { old: null, new: value }]),
  );

/** Plans a card for a record that has none. Fields that cannot be told here are left out, and follow when they can. */
function planCreateLocal(planning: Planning, record: RemoteRecord, view: LocalView, reason: string): void {
  const { mapping, syncState } = planning;
  const problems = Object.values(view.problems);
  if (view.fields.name == null) {
    planning.again.add(record.id);
    const why = view.problems.name ?? 'it has no name';
    addRow(planning, { action: 'skip', remoteId: record.id, reason: `No card can be made: ${why}` });
    return;
  }
  const remote = remoteFields(mapping, record);
  const agreed: Record<Path, Agreed> = {};
  for (const [path, local] of Object.entries(view.fields))
    agreed[path] = { local, remote: remote[path] ?? null };
  const left = problems.length > 0 ? `; left out: ${problems.join(', ')}` : '';
  const values = defined({ ...mapping.card_defaults, ...defined(view.fields) });
  const diff = asNew(values);
  const refusal = planning.seen.refusals?.find(
    (one) =>
      one.remoteId === record.id && one.path === null && same(canonical(one.seen.remote), canonical(values)),
  );
  if (refusal) {
    planning.again.add(record.id);
    const { reason: why, side } = refusal;
    addRow(planning, { action: 'stage', remoteId: record.id, reason: why, diff, refusedBy: side });
    return;
  }
  const row = addRow(planning, {
    action: 'create',
    side: 'local',
    remoteId: record.id,
    reason: `${reason}${left}`,
    diff,
    expects: { pair: syncState.pairs.get(record.id)?.state.kind ?? 'none' },
    agreed,
    origin: 'pulled',
  });
  for (const path of Object.keys(view.problems)) {
    const awaits = view.awaits[path];
    wait(planning, record.id, 'local', awaits);
    if (awaits === undefined) continue;
    const held = { local: canonical(row.diff[path]?.new), remote: remote[path] ?? null };
    const ids = { remoteId: record.id, cardId: null, needs: row.no };
    planning.late.push({ ...ids, side: 'local', path, held, base: null, settled: false, awaits });
  }
}

const defined = (values: Record<Path, Value>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));

/** Plans a record for a card that has none. */
function planCreateRemote(planning: Planning, card: LocalCard, reason: string): void {
  const { mapping, around } = planning;
  const values: Record<Path, Value> = {};
  const agreed: Record<Path, Agreed> = {};
  const problems: string[] = [];
  const awaited: { path: Path; awaits: string }[] = [];
  const locals = localFields(mapping, card);
  for (const field of mapping.fields) {
    const local = locals[field.card_field] ?? null;
    const told = toRemote(field, local, around);
    if (!told.ok) {
      problems.push(told.problem);
      if (told.awaits !== undefined) awaited.push({ path: field.card_field, awaits: told.awaits });
    } else {
      values[field.card_field] = told.value;
      agreed[field.card_field] = { local, remote: told.value };
    }
  }
  const left = problems.length > 0 ? `; left out: ${problems.join(', ')}` : '';
  const row = addRow(planning, {
    action: 'create',
    side: 'remote',
    cardId: card.id,
    reason: `${reason}${left}`,
    diff: asNew(values),
    expects: { unbound: true, card: { there: true, fields: locals } },
    agreed,
    origin: 'pushed',
  });
  for (const one of awaited) {
    const held = { local: locals[one.path] ?? null, remote: null };
    const ids = { remoteId: null, cardId: card.id, needs: row.no };
    planning.late.push({ ...one, ...ids, side: 'remote', held, base: null, settled: false });
  }
}
