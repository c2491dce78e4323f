import type { NewPlanRow } from '../../../domain/exchange/itsm/runs.plan.ts';
import { emptyRow } from '../engine/plan.fields.ts';
import type { PlanRow } from '../engine/plan.types.ts';

/** Where rows tell something; they have a column each. */
type Column = 'no' | 'action' | 'side' | 'remoteId' | 'cardId';

/** What of a row is kept as JSON: whatever is not empty. Most rows use few of their members. */
type Kept = Partial<Omit<PlanRow, Column>>;

const { side: _side, remoteId: _remoteId, cardId: _cardId, ...empty } = emptyRow;
const members = Object.keys(empty) as (keyof typeof empty)[];

/** A row of a plan as it is stored. */
export function storedRow(row: PlanRow): NewPlanRow {
  const kept: Kept = { reason: row.reason };
  for (const member of members) {
    const value = row[member];
    if (!isEmpty(value)) Object.assign(kept, { [member]: value });
  }
  return {
    no: row.no,
    action: row.action,
    side: row.side,
    remote_id: row.remoteId,
    card_id: row.cardId,
    row: kept,
  };
}

const isEmpty = (value: unknown): boolean =>
  value === null || (typeof value === 'object' && Object.keys(value).length === 0);

/** The row of a plan that was stored so. */
export function planRowOf({ no, action, side, remote_id, card_id, row }: NewPlanRow): PlanRow {
  return {
    ...emptyRow,
    ...(row as Kept & Pick<PlanRow, 'reason'>),
    no,
    action: action as PlanRow['action'],
    side,
    remoteId: remote_id,
    cardId: card_id,
  };
}
