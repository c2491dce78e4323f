import { addRow, type LateField, type Planning, type Waits } from './plan.draft.ts';
import type { PlanRow } from './plan.types.ts';

/** Rows of a plan that make records and cards known to each other, by number. */
export interface Makers {
  /** The row that gives a record its card. */
  ofCard(remoteId: string): number | undefined;
  /** The row that gives a card its record. */
  ofRecord(cardId: string): number | undefined;
}

/** The rows at hand that make or link. */
export function makersIn(
  rows: Iterable<Pick<PlanRow, 'no' | 'action' | 'side' | 'remoteId' | 'cardId'>>,
): Makers {
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
export function planLate(planning: Planning, fields: readonly LateField[], makers: Makers): Reached[] {
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
export function forgetReached(waits: Waits, reached: readonly Reached[]): void {
  for (const { remoteId, awaits } of reached) {
    const known = waits.get(remoteId);
    if (!known) continue;
    known.records.delete(awaits);
    known.cards.delete(awaits);
    if (known.records.size + known.cards.size === 0 && !known.value) waits.delete(remoteId);
  }
}
