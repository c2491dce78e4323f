import { findUnmappedCards, indexPairs, isLive } from '../../../../integrations/itsm/engine/state.ts';
import { KEY, PATHS, type Shown, tokenOf } from './landscape.ts';
import type { Life } from './life.ts';

/**
 * Judges the end of a history, when nothing is left to be done: both sides agree by the rules, and nothing is lost,
 * doubled or left over.
 */
export async function judge(life: Life): Promise<void> {
  const { landscape, faults, lineage } = life;
  const cards = new Map((await landscape.shown('local')).map((one) => [one.id, one]));
  const records = new Map((await landscape.shown('remote')).map((one) => [one.id, one]));
  const pairs = await landscape.pairs();
  const redirects = await landscape.redirects();
  const syncState = {
    pairs: new Map(pairs.map((pair) => [pair.remoteId, pair])),
    links: new Map(),
    again: new Set<string>(),
    watermark: null,
  };
  const { primary, cardOf } = indexPairs(syncState, redirects);
  const apart = findUnmappedCards(syncState);

  for (const pair of pairs.filter(isLive)) {
    const cardId = cardOf(pair.remoteId)!;
    if (apart.has(cardId)) continue;
    const [card, record] = [cards.get(cardId), records.get(pair.remoteId)];
    if (!card || !record)
      faults.push(`pair ${cardId} ${pair.remoteId}: one side is gone, and the pair lives on`);
    else if (primary.get(cardId) === pair) judgePair(card, record, faults);
  }
  for (const card of cards.values()) {
    const ended = pairs.filter(({ cardId }) => cardId === card.id);
    const excused = ended.some(({ state }) => state.kind === 'unmapped' || state.kind === 'ended');
    if (!primary.has(card.id) && !excused && !(await landscape.staged(card.id))) {
      faults.push(`card ${card.id} has no record`);
    }
  }
  for (const record of records.values()) {
    if (!syncState.pairs.has(record.id) && !(await landscape.staged(record.id))) {
      faults.push(`record ${record.id} has no card`);
    }
  }
  const present = new Set(
    [...cards.values(), ...records.values()].flatMap(({ fields }) =>
      PATHS.map((path) => tokenOf(path, fields[path] ?? null)),
    ),
  );
  for (const value of lineage.standing()) if (!present.has(value)) faults.push(`'${value}' was lost`);
}

function judgePair(card: Shown, record: Shown, faults: string[]): void {
  for (const path of [...PATHS, KEY]) {
    const [local, remote] = [card, record].map(({ fields }) => tokenOf(path, fields[path] ?? null));
    if (local !== remote) faults.push(`${card.id} and ${record.id} differ in ${path}: ${local}, ${remote}`);
  }
}
