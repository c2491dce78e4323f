import fc from 'fast-check';
import {
  findUnmappedCards,
  indexPairs,
  isLive,
} from '../../../../../integrations/exchange/itsm/engine/state.ts';
import { executeHistory } from './execute.ts';
import { KEY, type Landscape, type ObjectState, PATHS, tokenOf } from './landscape.ts';
import type { Mutant } from './memory.port.ts';
import { createMemory } from './memory.ts';
import type { HistoryState } from './state.ts';
import { type History, histories } from './steps.ts';

/** A history after which the sides differ, with its log and errors. */
export class Divergence extends Error {}

/** Executes a history and checks it. @throws Divergence */
export async function expectConvergence(history: History, landscape: Landscape): Promise<void> {
  const { log, errors } = await executeHistory(history, landscape, checkConvergence);
  if (errors.length > 0)
    throw new Divergence([...log, ...errors.map((fault) => `ERROR: ${fault}`)].join('\n'));
}

/** The property that both sides converge in memory; with a mutant, it fails. */
export const everyHistoryConverges = (mutant?: Mutant) =>
  fc.asyncProperty(histories, (history) => expectConvergence(history, createMemory(history.setting, mutant)));

/** Checks the end of a history, when no change is planned any more: both sides are equal, and nothing is lost or duplicated. */
async function checkConvergence(state: HistoryState): Promise<void> {
  const { landscape, errors, lineage } = state;
  const cards = new Map((await landscape.objects('local')).map((one) => [one.id, one]));
  const records = new Map((await landscape.objects('remote')).map((one) => [one.id, one]));
  const pairs = await landscape.pairs();
  const redirects = await landscape.redirects();
  const syncState = {
    pairs: new Map(pairs.map((pair) => [pair.remoteId, pair])),
    links: new Map(),
    again: new Set<string>(),
    watermark: null,
  };
  const { primary, cardOf } = indexPairs(syncState.pairs, redirects);
  const unmapped = findUnmappedCards(syncState);

  for (const pair of pairs.filter(isLive)) {
    const cardId = cardOf(pair.remoteId)!;
    if (unmapped.has(cardId)) continue;
    const [card, record] = [cards.get(cardId), records.get(pair.remoteId)];
    if (!card || !record)
      errors.push(`pair ${cardId} ${pair.remoteId}: one side is gone, but the pair is live`);
    else if (primary.get(cardId) === pair) checkPair(card, record, errors);
  }
  for (const card of cards.values()) {
    const ended = pairs.filter(({ cardId }) => cardId === card.id);
    const mayLackRecord = ended.some(({ state }) => state.kind === 'unmapped' || state.kind === 'ended');
    if (!primary.has(card.id) && !mayLackRecord && !(await landscape.isStaged(card.id)))
      errors.push(`card ${card.id} has no record`);
  }
  for (const record of records.values()) {
    if (!syncState.pairs.has(record.id) && !(await landscape.isStaged(record.id)))
      errors.push(`record ${record.id} has no card`);
  }
  const present = new Set(
    [...cards.values(), ...records.values()].flatMap(({ fields }) =>
      PATHS.map((path) => tokenOf(path, fields[path] ?? null)),
    ),
  );
  for (const value of lineage.required()) if (!present.has(value)) errors.push(`'${value}' was lost`);
}

function checkPair(card: ObjectState, record: ObjectState, faults: string[]): void {
  for (const path of [...PATHS, KEY]) {
    const [local, remote] = [card, record].map(({ fields }) => tokenOf(path, fields[path] ?? null));
    if (local !== remote) faults.push(`${card.id} and ${record.id} differ in ${path}: ${local}, ${remote}`);
  }
}
