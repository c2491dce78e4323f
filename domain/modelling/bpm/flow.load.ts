import { notFound } from '../../../platform/errors.ts';
import type { StoredCard } from '../../inventory/cards/cards.load.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import type { CardRight } from '../../kernel/permissions/policy.ts';
import { lockRow, updateRow } from '../../kernel/resources/rows.ts';
import { lockProcess } from './bpm.access.ts';
import { type FlowStep, flowEvent } from './bpm.events.ts';
import { type FlowRow, FlowVersion } from './bpm.model.ts';
import { flowText } from './flow.list.ts';
import { type FlowAction, requireStatus } from './flow.rules.ts';

/** A version with its process, both locked. */
export interface LockedFlow {
  process: StoredCard;
  row: FlowRow;
}

/**
 * Locks a version for an action.
 * @throws EstateError `not_found`, `forbidden`, `precondition_failed`, `wrong_state`.
 */
export async function lockFlow(
  work: Work,
  ctx: Ctx,
  ids: { process: string; version: string },
  action: FlowAction,
  right: CardRight,
): Promise<LockedFlow> {
  const process = await lockProcess(work, ctx, ids.process, right);
  const row = await lockRow(work.sql, FlowVersion, { id: ids.version, process_id: process.id });
  if (!row) throw notFound('flow version', ids.version);
  if (ctx.ifMatch) checkIfMatch(ctx, await flowText(work.sql, row.id));
  requireStatus(action, row.status);
  return { process, row };
}

/** Updates columns of a version, with an event. @returns the whole row. */
export async function updateFlow(
  work: Work,
  before: FlowRow,
  values: Partial<FlowRow>,
  step?: FlowStep,
  more: Record<string, unknown> = {},
): Promise<FlowRow> {
  const after = await updateRow(work.sql, FlowVersion, { id: before.id }, values);
  work.emit(flowEvent(before, after, step, more));
  return after;
}
