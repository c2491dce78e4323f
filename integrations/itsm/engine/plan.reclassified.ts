import type { Pair } from './book.types.ts';
import type { LocalCard } from './observation.types.ts';
import { addRow, named, type Planning } from './plan.draft.ts';
import { chosen } from './plan.fields.ts';
import { planGone, planQuarantined } from './plan.gone.ts';

/**
 * A record that is in the table of another class by now: it is not deleted, but the mapping does not read it. A person decides
 * whether its card goes as if the record were deleted (`remote`), or stays without a record (`local`).
 */
export function planReclassified(
  planning: Planning,
  pair: Pair,
  cardId: string,
  card: LocalCard | undefined,
  to: string,
): void {
  const ids = named(pair, cardId);
  const reason = `The record was reclassified to ${to}, which the mapping does not read`;
  const winner = chosen(planning, pair.remoteId, null, null, to);
  if (winner === 'remote') {
    const fate = { kind: 'gone', evidence: 'look', decided: true } as const;
    if (pair.state.kind === 'quarantined') planQuarantined(planning, pair, cardId, card, fate);
    else planGone(planning, pair, cardId, card, fate);
    return;
  }
  if (winner === 'local') {
    addRow(planning, {
      ...ids,
      action: 'unlink',
      reason: `${reason}; a person keeps the card`,
      expects: { pair: pair.state.kind },
      state: { kind: 'ended', gone: 'remote' },
    });
    return;
  }
  addRow(planning, {
    ...ids,
    action: 'conflict',
    reason: `${reason}: its card stays until a person decides`,
    diff: { '': { old: null, new: to } },
  });
  planning.again.add(pair.remoteId);
}
