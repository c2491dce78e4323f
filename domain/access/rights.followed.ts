import { followApprovers } from '../bpm/flow.approvers.ts';
import type { Work } from '../command.ts';
import type { Ctx } from '../context.ts';
import { followSignatories } from '../signatures/signatures.gone.ts';

/**
 * Follows accounts that were closed, opened again, deleted or given another role, inside the same command: what waits for
 * somebody who can no longer do it (to sign a document, to approve a flow) would wait for ever.
 */
export async function followRights(work: Work, ctx: Ctx, userIds: readonly string[]): Promise<void> {
  if (userIds.length === 0) return;
  await followSignatories(work, ctx, userIds);
  await followApprovers(work);
}

/** The same for everybody who has one of the roles, where what they let them do has changed. */
export async function followRightsOf(work: Work, ctx: Ctx, roles: readonly string[]): Promise<void> {
  await followRights(work, ctx, await work.sql('users').whereIn('role', roles).pluck('id'));
}
