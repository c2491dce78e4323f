import type { Mapping } from '../../../../domain/exchange/itsm/mappings.types.ts';
import type { TransformContext } from '../../../../integrations/exchange/itsm/engine/fields.ts';
import type { ScoredPair } from '../../../../integrations/exchange/itsm/engine/match.ts';
import type {
  Observation,
  RemoteObservation,
  StateChange,
  SyncState,
} from '../../../../integrations/exchange/itsm/engine/model.types.ts';
import {
  creatingRowsIn,
  endsOf,
  plannedCards,
} from '../../../../integrations/exchange/itsm/engine/plan.links.ts';
import type { PartSource } from '../../../../integrations/exchange/itsm/engine/plan.ts';
import { checkDeletionLimit, planMapping } from '../../../../integrations/exchange/itsm/engine/plan.ts';
import type { MatchItem, Outcome, Plan } from '../../../../integrations/exchange/itsm/engine/plan.types.ts';
import {
  beginPlanning,
  emptySyncState,
  indexObservation,
  isLive,
  isRemoval,
  type Planning,
  type References,
  survivorOf,
} from '../../../../integrations/exchange/itsm/engine/state.ts';
import { invertRows } from '../../../../integrations/exchange/itsm/engine/undo.ts';

/** Scores the similarity of records and cards. May omit pairs that are not similar. */
export type Scorer = (records: MatchItem[], cards: MatchItem[]) => ScoredPair[];
type PlanTools = { score: Scorer; evaluate: TransformContext['evaluate']; references?: References };

/** Plans from what is in memory. @param size the number of records and cards of a part. */
export async function planInMemory(
  id: string,
  mapping: Mapping,
  syncState: SyncState,
  observation: Observation,
  { score, evaluate, references }: PlanTools,
  size = Number.POSITIVE_INFINITY,
): Promise<Plan> {
  const whole = beginPlanning(mapping, syncState, observation, evaluate, references);
  const { rows } = whole;
  const { again, deferred, absences } = await planMapping(mapping, sourceOf(whole, size), {
    score: async (...items) => score(...items),
    evaluate,
    storeRows: async (some) => void rows.push(...some),
  });
  const pairs = [...syncState.pairs.values()].filter(isLive).length;
  return {
    id,
    rows,
    stopped: checkDeletionLimit(mapping, rows.filter(isRemoval).length, pairs),
    closing: {
      watermark: observation.remote.watermark,
      again: [...new Set([...again, ...deferred.keys()])].sort(),
      absences,
    },
  };
}

/** A source that returns only the requested parts of a world. */
function sourceOf(whole: Planning, size: number): PartSource {
  const { mapping, syncState, observation: seen, index, rows } = whole;
  const { redirects, cards } = seen.local;
  const survivor = (id: string) => survivorOf(id, redirects);
  async function* chunks(ids: Iterable<string>): AsyncGenerator<string[]> {
    const all = [...ids].sort();
    for (let at = 0; at < all.length; at += size) yield all.slice(at, at + size);
  }
  const loadPart: PartSource['loadPart'] = async ({ remoteIds = [], cardIds = [] }) => {
    const asked = new Set(remoteIds);
    for (const id of remoteIds) {
      const into = index.tombstones.get(id)?.mergedInto;
      if (into !== undefined) asked.add(into);
    }
    const survivors = new Set(cardIds.map(survivor));
    for (const id of asked)
      if (syncState.pairs.has(id)) survivors.add(survivor(syncState.pairs.get(id)!.cardId));
    const pairs = [...syncState.pairs].filter(
      ([id, { cardId }]) => asked.has(id) || survivors.has(survivor(cardId)),
    );
    const wanted = new Set([...survivors, ...pairs.map(([, { cardId }]) => cardId), ...cardIds]);
    const { remote } = seen;
    return {
      syncState: { ...emptySyncState(), pairs: new Map(structuredClone(pairs)) },
      observation: {
        ...seen,
        links: undefined,
        remote: {
          ...remote,
          records: remote.records.filter(({ id }) => asked.has(id)),
          tombstones: remote.tombstones.filter(({ id }) => asked.has(id)),
          lookups: new Map([...remote.lookups].filter(([id]) => asked.has(id))),
        },
        local: { redirects, cards: new Map([...cards].filter(([id]) => wanted.has(id))) },
      },
      references: whole.transformContext,
    };
  };
  const live = [...syncState.pairs.values()].filter(isLive);
  const { primary } = whole.pairIndex;
  return {
    loadPart,
    pairsToPlan: () => chunks(syncState.pairs.keys()),
    allPairs: () => chunks(syncState.pairs.keys()),
    livePairs: () => chunks(live.map(({ remoteId }) => remoteId)),
    unpairedRecords: () =>
      chunks([...index.records.keys()].filter((id) => !live.some((one) => one.remoteId === id))),
    readRecords: () => chunks(index.records.keys()),
    unpairedCards: () => chunks([...cards.keys()].filter((id) => !primary.has(id))),
    decisions: seen.decisions,
    createsRecords:
      mapping.sync_direction === 'bidirectional' ||
      (mapping.sync_direction === 'push' && seen.remote.kind === 'complete'),
    refersToOwnMapping: () => true,
    findCreatingRows: async () => creatingRowsIn(rows),
    async *linkParts() {
      const planned = plannedCards(rows);
      const ends = endsOf(whole);
      const records = new Map(
        [...planned].flatMap(([id, { id: card }]) => (card === null ? [] : [[card, id]])),
      );
      /** The primary record of a record's card. */
      const primaryOf = (id: string) => {
        const card = whole.pairIndex.cardOf(id);
        return card === undefined ? id : (whole.pairIndex.recordOf(card) ?? id);
      };
      const { links } = seen;
      if (!links) return;
      const froms = new Set([
        ...[...syncState.links.values(), ...links.remote].map(({ source }) => primaryOf(source)),
        ...links.local.map(({ source }) => ends.recordOf(source) ?? records.get(source) ?? source),
      ]);
      for await (const ids of chunks(froms)) {
        const here = new Set(ids);
        const local = links.local.filter(({ source }) => here.has(ends.recordOf(source) ?? source));
        const remote = links.remote.filter(({ source }) => here.has(primaryOf(source)));
        const agreed = [...syncState.links].filter(([, { source }]) => here.has(primaryOf(source)));
        yield {
          syncState: { ...emptySyncState(), links: new Map(agreed) },
          observation: { ...seen, links: { ...links, local, remote } },
          ends,
        };
      }
    },
  };
}

/** The records that a run reads by key before it plans; equal to the stored queries. */
export function recordsToLookUp(syncState: SyncState, remote: RemoteObservation): string[] {
  const { records, tombstones } = indexObservation(remote);
  const wanted = [...tombstones.values()].flatMap(({ mergedInto }) =>
    mergedInto === undefined || records.has(mergedInto) || remote.lookups.has(mergedInto) ? [] : [mergedInto],
  );
  for (const remoteId of tombstones.keys()) {
    const state = syncState.pairs.get(remoteId)?.state.kind;
    const isKnown = state !== undefined && state !== 'unmapped' && state !== 'removed';
    if (isKnown || records.has(remoteId)) wanted.push(remoteId);
  }
  for (const { remoteId, state } of syncState.pairs.values()) {
    if (state.kind === 'unmapped' || state.kind === 'removed' || tombstones.has(remoteId)) continue;
    if (!records.has(remoteId) && remote.kind === 'complete') wanted.push(remoteId);
  }
  return [...new Set(wanted)].filter((id) => !remote.lookups.has(id));
}

/** Un-maps a card in memory: its pairs and those of cards that were merged into it. */
export const unmap = (syncState: SyncState, cardId: string, redirects: ReadonlyMap<string, string>) =>
  [...syncState.pairs.values()]
    .filter((pair) => survivorOf(pair.cardId, redirects) === cardId)
    .map(({ remoteId }): StateChange => ({ op: 'state', remoteId, state: { kind: 'unmapped' } }));

/** Maps an un-mapped record again in memory. */
export function remap({ pairs, again }: SyncState, remoteId: string): void {
  const pair = pairs.get(remoteId);
  if (pair?.state.kind !== 'unmapped') return;
  pair.state = { kind: 'linked' };
  again.add(remoteId);
}

/** Plans the undo of an applied plan in memory. */
export function undoPlan(
  id: string,
  { id: of, rows }: Plan,
  outcomes: ReadonlyMap<number, Outcome>,
  { pairs, watermark, again }: SyncState,
): Plan {
  const applied = rows.toReversed().flatMap((row) => {
    const { progress, createdId = null } = outcomes.get(row.no) ?? {};
    return progress === 'applied' ? [{ row, createdId }] : [];
  });
  const closing = { watermark, again: [...again].sort(), absences: {} };
  return { id, rows: invertRows(of, applied, pairs), stopped: null, closing };
}
