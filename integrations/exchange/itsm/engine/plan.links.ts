import type { AgreedLink, LinkObservation, Side } from './model.types.ts';
import type { PlanRow } from './plan.types.ts';
import {
  addRow,
  findActiveCard,
  linkKey,
  type OpenReference,
  type Planning,
  type ResolvedReference,
} from './state.ts';

/** The numbers of the rows of a plan that create or link cards and records. */
export interface CreatingRows {
  /** The row that gives a record its card. */
  ofCard(remoteId: string): number | undefined;
  /** The row that gives a card its record. */
  ofRecord(cardId: string): number | undefined;
}

/** Indexes the rows that create or link. */
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

/**
 * Plans references to objects that the plan itself creates or links, as rows after those that create and link.
 * @returns the references that are thereby resolved.
 */
export function planReferences(
  planning: Planning,
  fields: readonly OpenReference[],
  creatingRows: CreatingRows,
): ResolvedReference[] {
  return fields.flatMap((field) => {
    const { side, path, remoteId, cardId, needs, values, base, settled, awaitedId } = field;
    const creatingRow = side === 'local' ? creatingRows.ofCard(awaitedId) : creatingRows.ofRecord(awaitedId);
    if (creatingRow === undefined) return [];
    const created =
      side === 'local' ? `record ${awaitedId} gets its card` : `card ${awaitedId} gets its record`;
    addRow(planning, {
      action: 'update',
      side,
      remoteId,
      cardId,
      needs,
      reason: `'${path}' refers to an object of this plan: ${created} by row ${creatingRow}`,
      diff: { [path]: { old: values[side], new: null } },
      refers: { [path]: awaitedId },
      agreed: { [path]: { ...values, [side]: null } },
      before: { [path]: base },
      settled: settled ? [path] : [],
      expects: {
        pair: 'linked',
        card: { there: true, fields: { [path]: values.local } },
        ...(side === 'remote' && { record: { there: true, fields: { [path]: values.remote } } }),
      },
    });
    return remoteId === null ? [] : [{ remoteId, awaitedId }];
  });
}

/** A card at the end of a relation; `id` is null if the plan is going to create it. */
interface EndCard {
  id: string | null;
}

/** Resolves the ends of relations, which may belong to several mappings of one connection. */
export interface Ends {
  /** The card of a record, if it is active or this plan creates it. */
  cardOf(remoteId: string): EndCard | undefined;
  /** The record of the primary pair of an active card. */
  recordOf(cardId: string): string | undefined;
  /** The record's pair is quarantined or ends, since one side of it is gone. */
  isEnding(remoteId: string): boolean;
  /** The record belongs to a mapping that is paused or cannot run, so it is unknown whether it still exists. */
  isBlocked(remoteId: string): boolean;
  /** This plan creates or links the record of the card. */
  getsRecord(cardId: string): boolean;
  /** The record has no live pair. */
  isUnpaired(remoteId: string): boolean;
}

/** A relation and where it exists, by the records of the primary pairs. */
interface LinkState {
  link: AgreedLink;
  cards: { source: string | null; target: string | null };
  /** The ends whose records this plan creates or links, with their cards. */
  refers: PlanRow['refers'];
  /** A record at one end whose pair is quarantined or ends. */
  endingRecord: string | null;
  /** A record at one end belongs to a mapping that is paused or cannot run. */
  isBlocked: boolean;
  base: boolean;
  local: boolean;
  /** The relations of the remote, which may be those of an alias record. */
  remote: AgreedLink[];
}

/** Resolves ends by the sync state and the rows of the plan. */
export function endsOf(planning: Planning): Ends {
  const { pairIndex, syncState } = planning;
  const planned = plannedCards(planning.rows);
  const records = new Map([...planned].flatMap(([id, { id: card }]) => (card === null ? [] : [[card, id]])));
  const ending = endingRecords(planning.rows);
  const { ofRecord } = creatingRowsIn(planning.rows);
  return {
    cardOf: (id) => {
      const card = pairIndex.cardOf(id);
      if (card === undefined) return planned.get(id);
      return findActiveCard(planning, card) && { id: card };
    },
    recordOf: (card) => pairIndex.recordOf(card) ?? records.get(card),
    isEnding: (id) =>
      ending.has(id) ||
      (syncState.pairs.has(id) && !planned.has(id) && syncState.pairs.get(id)?.state.kind !== 'linked'),
    isBlocked: () => false,
    getsRecord: (card) => ofRecord(card) !== undefined,
    isUnpaired: (id) => pairIndex.cardOf(id) === undefined && !planned.has(id),
  };
}

/** Records whose pairs are quarantined or ended by rows of a plan. */
function endingRecords(rows: Iterable<{ action: string; remoteId: string | null }>): Set<string> {
  const ending = new Set<string>();
  for (const { action, remoteId } of rows)
    if (remoteId !== null && (action === 'quarantine' || action === 'unlink')) ending.add(remoteId);
  return ending;
}

/** Cards that rows of a plan create or link, by record. */
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
 * Plans relations between paired objects. A relation exists or not, so there are no conflicts: one that only one side has added
 * or removed is added or removed on the other.
 */
export function planLinks(planning: Planning, ends: Ends): void {
  const observed = planning.observation.links;
  if (!observed) return;
  const states = Map.groupBy(gatherLinks(planning, observed, ends).values(), ({ refers, cards }) =>
    Object.keys(refers).length > 0 || Object.values(cards).includes(null) ? 'unresolved' : 'resolved',
  );
  // rows that refer to new records or cards come last, so that they are written in one batch
  for (const kind of ['resolved', 'unresolved'] as const)
    for (const state of states.get(kind) ?? []) planLink(planning, state);
}

function gatherLinks(planning: Planning, observed: LinkObservation, ends: Ends): Map<string, LinkState> {
  const { mapping, syncState } = planning;
  const types = new Set(mapping.relations.map(({ relation_type_key: relationType }) => relationType));
  const states = new Map<string, LinkState>();
  /** The surviving card of an end and its primary record; the card id in place of a record that is going to be created. */
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
      endingRecord: records.find((id) => ends.isEnding(id)) ?? null,
      isBlocked: records.some((id) => ends.isBlocked(id)),
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
    // an agreed relation of an ended pair is deleted
    else if (ends.isUnpaired(link.source) || ends.isUnpaired(link.target))
      addRow(planning, { action: 'unrelate', reason: 'An end of the relation is gone', link });
  }
  const recordOf = (card: string) => ends.recordOf(card) ?? (ends.getsRecord(card) ? card : undefined);
  for (const { relationType, source, target } of observed.local) {
    const [from, to] = [recordOf(source), recordOf(target)];
    if (from === undefined || to === undefined) continue;
    const state = stateOf(relationType, from, to);
    if (state) state.local = true;
  }
  for (const link of observed.remote) stateOf(link.relationType, link.source, link.target)?.remote.push(link);
  return states;
}

/** The relation with the remote's own id of it. */
const withRelationId = ({ link, remote: [first] }: LinkState): AgreedLink =>
  first?.relationId === undefined ? link : { ...link, relationId: first.relationId };

function planLink(planning: Planning, state: LinkState): void {
  const { base, local, remote } = state;
  const there = remote.length > 0;
  if (local === there) {
    if (base !== there && state.endingRecord === null && !state.isBlocked)
      addAgreement(planning, state, there);
    return;
  }
  const side: Side = local === base ? 'local' : 'remote';
  const add = side === 'local' ? there : local;
  if (planning.mapping.sync_direction === (side === 'local' ? 'push' : 'pull')) return;
  if (!add && planning.mapping.sync_mode === 'additive') return;
  const where = side === 'local' ? 'at the remote' : 'here';
  const reason = `The relation was ${add ? 'added' : 'removed'} ${where}`;
  if (state.endingRecord !== null) {
    // a remote removes relations together with a record and refuses new ones to it, so neither is a user's change
    const deferred = `${reason}, but is deferred: one side of the pair of record ${state.endingRecord} is gone`;
    addRow(planning, { action: 'skip', reason: deferred, link: withRelationId(state) });
    return;
  }
  if (state.isBlocked) {
    // the record may be gone: then its relations are gone too, and new ones are refused
    planning.totals.blockedRelations += 1;
    return;
  }
  addChange(planning, state, { side, add, reason });
}

/** Plans the change of the sync state for a relation that both sides have added or removed. */
function addAgreement(planning: Planning, state: LinkState, there: boolean): void {
  const action = there ? 'relate' : 'unrelate';
  const reason = there ? 'Both sides have the relation' : 'Neither side has the relation any more';
  addRow(planning, { action, reason, link: withRelationId(state) });
}

/** Plans to create or remove a relation on one side. */
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
