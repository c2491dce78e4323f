import type { AgreedLink, LinkReading, Side } from './model.types.ts';
import { addRow, cardOfPair, type DeferredWaits, type OpenReference, type Planning } from './plan.fields.ts';
import type { PlanRow } from './plan.types.ts';
import { linkKey } from './state.ts';

/** Rows of a plan that make records and cards known to each other, by number. */
export interface CreatingRows {
  /** The row that gives a record its card. */
  ofCard(remoteId: string): number | undefined;
  /** The row that gives a card its record. */
  ofRecord(cardId: string): number | undefined;
}

/** The rows at hand that make or link. */
export function creatingRowsIn(
  rows: Iterable<Pick<PlanRow, 'no' | 'action' | 'side' | 'remoteId' | 'cardId'>>,
): CreatingRows {
  const cards = new Map<string, number>();
  const records = new Map<string, number>();
  for (const { no, action, side, remoteId, cardId } of rows) {
    if (action !== 'link' && action !== 'create') continue;
    if (remoteId !== null && side !== 'remote') cards.set(remoteId, no);
    if (cardId !== null && side !== 'local') records.set(cardId, no);
  }
  return { ofCard: (id) => cards.get(id), ofRecord: (id) => records.get(id) };
}

/** A record that waits no more for something, since the plan makes it. */
export interface Reached {
  remoteId: string;
  awaits: string;
}

/**
 * Plans references to what the plan itself makes: rows of their own, which follow all that makes cards and records.
 * @returns what need not be waited for.
 */
export function planReferences(
  planning: Planning,
  fields: readonly OpenReference[],
  makers: CreatingRows,
): Reached[] {
  return fields.flatMap((field) => {
    const { side, path, remoteId, cardId, needs, held, base, settled, awaits } = field;
    const maker = side === 'local' ? makers.ofCard(awaits) : makers.ofRecord(awaits);
    if (maker === undefined) return [];
    const made = side === 'local' ? `record ${awaits} gets its card` : `card ${awaits} gets its record`;
    addRow(planning, {
      action: 'update',
      side,
      remoteId,
      cardId,
      needs,
      reason: `'${path}' leads to what the plan makes: ${made} by row ${maker}`,
      diff: { [path]: { old: held[side], new: null } },
      refers: { [path]: awaits },
      agreed: { [path]: { ...held, [side]: null } },
      before: { [path]: base },
      settled: settled ? [path] : [],
      expects: {
        pair: 'linked',
        card: { there: true, fields: { [path]: held.local } },
        ...(side === 'remote' && { record: { there: true, fields: { [path]: held.remote } } }),
      },
    });
    return remoteId === null ? [] : [{ remoteId, awaits }];
  });
}

/** Takes out what is waited for no more, and the records that wait for nothing else. */
export function removeResolved(waits: DeferredWaits, reached: readonly Reached[]): void {
  for (const { remoteId, awaits } of reached) {
    const known = waits.get(remoteId);
    if (!known) continue;
    known.records.delete(awaits);
    known.cards.delete(awaits);
    if (known.records.size + known.cards.size === 0 && !known.value) waits.delete(remoteId);
  }
}

/** A card at the end of a relation; `id` is null while the plan is only about to make it. */
interface EndCard {
  id: string | null;
}

/**
 * Who stands at the ends of relations. The ends may belong to several mappings of one connection, whose records have
 * keys of their own.
 */
export interface Ends {
  /** The card of a record, if it is there, or is made by this plan. */
  cardOf(remoteId: string): EndCard | undefined;
  /** The record that speaks for a card that is there. */
  recordOf(cardId: string): string | undefined;
  /** The record's pair waits for a removal, or ends with this plan: a side of it is gone. */
  isWaiting(remoteId: string): boolean;
  /** The record belongs to another mapping, which does not run now: nobody looks whether it is still there. */
  rests(remoteId: string): boolean;
  /** This plan gives the card its record: it makes one, or links one. */
  getsRecord(cardId: string): boolean;
  /** The record is half of no pair that is alive. */
  isOver(remoteId: string): boolean;
}

/** A relation as each side has it, named by the records that speak for its cards. */
interface LinkState {
  link: AgreedLink;
  cards: { source: string | null; target: string | null };
  /** The ends whose records this plan makes or links, with their cards. */
  refers: PlanRow['refers'];
  /** A record at its end that waits. */
  waits: string | null;
  /** What one of them is today is not looked at. */
  rests: boolean;
  base: boolean;
  local: boolean;
  /** As the remote names it, which may be by a record that a merge brought along. */
  remote: AgreedLink[];
}

/** The ends as the sync state of the plan knows them, with what the plan's own rows are going to make. */
export function endsOf(planning: Planning): Ends {
  const { identities, syncState } = planning;
  const planned = plannedCards(planning.rows);
  const records = new Map([...planned].flatMap(([id, { id: card }]) => (card === null ? [] : [[card, id]])));
  const leaving = leavingRecords(planning.rows);
  const { ofRecord } = creatingRowsIn(planning.rows);
  return {
    cardOf: (id) => {
      const card = identities.cardOf(id);
      if (card === undefined) return planned.get(id);
      return cardOfPair(planning, card) && { id: card };
    },
    recordOf: (card) => identities.recordOf(card) ?? records.get(card),
    isWaiting: (id) =>
      leaving.has(id) ||
      (syncState.pairs.has(id) && !planned.has(id) && syncState.pairs.get(id)?.state.kind !== 'linked'),
    rests: () => false,
    getsRecord: (card) => ofRecord(card) !== undefined,
    isOver: (id) => identities.cardOf(id) === undefined && !planned.has(id),
  };
}

/** Records whose pairs rows of a plan put into quarantine or end, since a side of them is gone. */
function leavingRecords(rows: Iterable<{ action: string; remoteId: string | null }>): Set<string> {
  const leaving = new Set<string>();
  for (const { action, remoteId } of rows)
    if (remoteId !== null && (action === 'quarantine' || action === 'unlink')) leaving.add(remoteId);
  return leaving;
}

/** Cards that rows of a plan tie to records. */
export function plannedCards(
  rows: Iterable<{ action: string; side: Side | null; remoteId: string | null; cardId: string | null }>,
): Map<string, EndCard> {
  const planned = new Map<string, EndCard>();
  for (const { action, side, remoteId, cardId } of rows) {
    if (remoteId === null) continue;
    if (action === 'create' && side === 'local') planned.set(remoteId, { id: null });
    if (action === 'link') planned.set(remoteId, { id: cardId });
  }
  return planned;
}

/**
 * Plans relations between mapped things. A relation is there or not, so both sides can only have moved to the same:
 * what one side added or took away alone is added or taken away on the other.
 */
export function planLinks(planning: Planning, ends: Ends): void {
  const reading = planning.seen.links;
  if (!reading) return;
  const states = Map.groupBy(gather(planning, reading, ends).values(), ({ refers }) =>
    Object.keys(refers).length > 0 ? 'late' : 'known',
  );
  // rows that wait for records stand together, so that they are written together
  for (const kind of ['known', 'late'] as const)
    for (const state of states.get(kind) ?? []) planLink(planning, reading, state);
}

function gather(planning: Planning, reading: LinkReading, ends: Ends): Map<string, LinkState> {
  const { mapping, syncState } = planning;
  const types = new Set(mapping.relations.map(({ relation_type_key: relationType }) => relationType));
  const states = new Map<string, LinkState>();
  /** The end as it is today: its card, and the record that speaks for it; the card stands for a record yet to be made. */
  const endOf = (remoteId: string) => {
    const card = ends.cardOf(remoteId);
    if (!card) return ends.getsRecord(remoteId) ? { card: remoteId, record: remoteId } : undefined;
    const record = card.id === null ? remoteId : ends.recordOf(card.id);
    return record === undefined ? undefined : { card: card.id, record };
  };
  const stateOf = (type: string, sourceId: string, targetId: string): LinkState | undefined => {
    if (!types.has(type)) return undefined;
    const [source, target] = [endOf(sourceId), endOf(targetId)];
    if (!source || !target) return undefined;
    const link = { relationType: type, source: source.record, target: target.record };
    const key = linkKey(link);
    const cards = { source: source.card, target: target.card };
    const records = [source.record, target.record];
    const state: LinkState = states.get(key) ?? {
      link,
      cards,
      refers: Object.fromEntries(
        Object.entries(cards).flatMap(([end, card]) =>
          card !== null && ends.getsRecord(card) ? [[end, card]] : [],
        ),
      ),
      waits: records.find((id) => ends.isWaiting(id)) ?? null,
      rests: records.some((id) => ends.rests(id)),
      base: false,
      local: false,
      remote: [],
    };
    states.set(key, state);
    return state;
  };
  for (const link of syncState.links.values()) {
    const state = stateOf(link.relationType, link.source, link.target);
    if (state) state.base = true;
    // what was agreed about a pair that has ended is over
    else if (ends.isOver(link.source) || ends.isOver(link.target))
      addRow(planning, { action: 'unrelate', reason: 'An end of the relation is gone', link });
  }
  const recordOf = (card: string) => ends.recordOf(card) ?? (ends.getsRecord(card) ? card : undefined);
  for (const { relationType, source, target } of reading.local) {
    const [from, to] = [recordOf(source), recordOf(target)];
    if (from === undefined || to === undefined) continue;
    const state = stateOf(relationType, from, to);
    if (state) state.local = true;
  }
  for (const link of reading.remote) stateOf(link.relationType, link.source, link.target)?.remote.push(link);
  return states;
}

/** The relation with the remote's own key of it. */
const withRelationId = ({ link, remote: [first] }: LinkState): AgreedLink =>
  first?.relationId === undefined ? link : { ...link, relationId: first.relationId };

function planLink(planning: Planning, { complete }: LinkReading, state: LinkState): void {
  const { base, local, remote } = state;
  // a reading of a part shows what is there, but not what is not
  const there = remote.length > 0 || (!complete && base);
  if (local === there) {
    if (base !== there && state.waits === null && !state.rests) noteAgreement(planning, state, there);
    return;
  }
  const side: Side = local === base ? 'local' : 'remote';
  const add = side === 'local' ? there : local;
  if (planning.mapping.sync_direction === (side === 'local' ? 'push' : 'pull')) return;
  if (!complete && add && side === 'remote' && !base) return;
  if (!add && planning.mapping.sync_mode === 'additive') return;
  const where = side === 'local' ? 'at the remote' : 'here';
  const reason = `The relation was ${add ? 'added' : 'removed'} ${where}`;
  if (state.waits !== null) {
    // a remote takes relations away with a record, and refuses new ones to it: neither says what people want of them
    const deferred = `${reason}, and waits: a side of record ${state.waits} at its end is gone`;
    addRow(planning, { action: 'skip', reason: deferred, link: withRelationId(state) });
    return;
  }
  if (state.rests) {
    // a record that nobody looks at may be gone, and would take the relation with it, or have it refused
    planning.resting += 1;
    return;
  }
  addChange(planning, state, { side, add, reason });
}

/** Records that both sides have made, or removed, a relation. */
function noteAgreement(planning: Planning, state: LinkState, there: boolean): void {
  const action = there ? 'relate' : 'unrelate';
  const reason = there ? 'Both sides have the relation' : 'Neither side has the relation any more';
  addRow(planning, { action, reason, link: withRelationId(state) });
}

/** Plans that a side gets, or loses, a relation. */
function addChange(
  planning: Planning,
  state: LinkState,
  { side, add, reason }: { side: Side; add: boolean; reason: string },
): void {
  const { link, remote } = state;
  const { source, target } = state.cards;
  const cards =
    source === null || target === null ? null : { relationType: link.relationType, source, target };
  if (add && side === 'remote' && Object.keys(state.refers).length > 0) {
    addRow(planning, { action: 'relate', side, reason, link, cards, refers: state.refers });
    return;
  }
  const targets = !add && side === 'remote' ? remote : [withRelationId(state)];
  for (const one of targets)
    addRow(planning, { action: add ? 'relate' : 'unrelate', side, reason, link: one, baseLink: link, cards });
}
