import { notFound } from '../../../platform/errors.ts';
import type { StoredCard } from '../../inventory/cards/cards.load.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { checkIfMatch } from '../../kernel/etag.ts';
import { updateRow } from '../../kernel/events/stored-rows.ts';
import type { CardRight } from '../../kernel/permissions/policy.ts';
import { lockProcess } from './bpm.access.ts';
import { type FlowStep, flowEvent } from './bpm.events.ts';
import type { FlowRow } from './bpm.types.ts';
import { flowText } from './flow.list.ts';
import { type FlowAction, requireStatus } from './flow.rules.ts';

/** A version that is about to be written to, with its process, both locked. */
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
  const { rows } = await work.sql.raw(
    'select to_jsonb(v) as row from process_flow_versions v where v.id = ?::uuid and v.process_id = ?::uuid for update',
    [ids.version, process.id],
  );
  if (!rows[0]) throw notFound('flow version', ids.version);
  const row: FlowRow = rows[0].row;
  if (ctx.ifMatch) checkIfMatch(ctx, await flowText(work.sql, row.id));
  requireStatus(action, row.status);
  return { process, row };
}

/** Writes columns of a version with an event. @returns the whole row. */
export async function storeFlow(
  work: Work,
  before: FlowRow,
  values: Partial<FlowRow>,
  step?: FlowStep,
  more: Record<string, unknown> = {},
): Promise<FlowRow> {
  const key = { column: 'id', value: before.id };
  const after = (await updateRow(work.sql, 'process_flow_versions', key, values)) as FlowRow;
  work.emit(flowEvent(before, after, step, more));
  return after;
}
