import { randomUUID } from 'node:crypto';
import { randomSecret, sha256 } from '../../../platform/crypto.ts';
import { embed, query } from '../../../platform/database.ts';
import { EstateError, invalidField, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { enqueueJob, type StartedJob } from '../../kernel/jobs/jobs.enqueue.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { batchText, rolledBackBatchText } from './batches.queries.ts';
import { batchRollbackJob } from './batches.rollback.job.ts';
import { countEvents, type RollbackRequest, requireSupported, rollBack } from './batches.rollback.ts';
import { requireUndoRights } from './undo.rights.ts';

/** Minutes for which a batch that was opened as a dry run can be confirmed. */
const CONFIRM_MINUTES = 15;

/** Opens a batch for the caller, which requests join until it is closed. */
export async function openBatch(
  ctx: Ctx,
  input: { tool_name: string; dry_run: boolean; row_count: number },
): Promise<JsonText> {
  const id = randomUUID();
  const token = input.dry_run ? randomSecret() : null;
  return await command(ctx, async ({ sql, emit }) => {
    await query(sql).run`insert into mutation_batches (id, tool_name, actor_user_id, origin, dry_run,
      row_count,
         confirm_token_hash, confirm_token_expires_at)
       values (${id}, ${input.tool_name}, ${ctx.caller.userId}, ${ctx.origin}, ${input.dry_run},
       ${input.row_count}, ${token && sha256(token)},
       case when ${input.dry_run}::boolean then now() + interval '${embed(CONFIRM_MINUTES)} minutes' end)`;
    emit({ event_type: 'mutation_batch.opened', data: { id, ...input } });
    return await batchText(sql, id, token);
  });
}

/**
 * Closes an open batch of the caller. One that was opened as a dry run needs its token.
 * @throws EstateError `not_found`, `wrong_state`, `validation_failed` for a wrong or expired token.
 */
export async function commitBatch(
  ctx: Ctx,
  id: string,
  input: { summary?: Record<string, unknown> | null; confirm_token?: string | null },
): Promise<JsonText> {
  return await command(ctx, async ({ sql, emit }) => {
    const rows = await query(sql).rows`select actor_user_id, committed_at, confirm_token_hash,
      confirm_token_expires_at < now() as expired
       from mutation_batches where id = ${id}::uuid for update`;
    const batch = rows[0];
    if (!batch || batch.actor_user_id !== ctx.caller.userId) throw notFound('batch', id);
    if (batch.committed_at !== null) throw new EstateError('wrong_state', 'The batch is closed already.');
    if (batch.confirm_token_hash !== null) {
      if (!input.confirm_token) throw invalidField('confirm_token', 'required', 'is required for a dry run');
      if (sha256(input.confirm_token) !== batch.confirm_token_hash)
        throw invalidField('confirm_token', 'wrong_token', 'is not the token of this batch');
      if (batch.expired) throw invalidField('confirm_token', 'expired_token', 'has expired');
    }
    const summary = input.summary ?? null;
    await query(sql).run`update mutation_batches
      set committed_at = clock_timestamp(), summary = ${summary && JSON.stringify(summary)}::jsonb,
      confirm_token_hash = null
       where id = ${id}::uuid`;
    emit({ event_type: 'mutation_batch.committed', data: { id, summary } });
    return await batchText(sql, id, null);
  });
}

/** Batches with more events are rolled back by a job. */
const AT_ONCE = 2000;

/**
 * Rolls a batch back, or previews that: a small one at once, a large one as a job.
 * @throws EstateError as {@link rollBack}.
 */
export async function startRollback(
  ctx: Ctx,
  id: string,
  request: RollbackRequest,
): Promise<{ report: JsonText } | { job: StartedJob }> {
  const types = await countEvents(ctx.db, id);
  const events = types.reduce((sum, { count }) => sum + count, 0);
  if (events > AT_ONCE) {
    await requireUndoRights(ctx, ctx.db, id);
    if (!request.dry_run) requireSupported(types);
    const job = await command(ctx, (work) =>
      enqueueJob(ctx, work, batchRollbackJob, { batch_id: id, ...request }),
    );
    return { job };
  }
  const report = await rollBack(ctx, id, request);
  return { report: `{"batch":${await rolledBackBatchText(ctx, id)},${JSON.stringify(report).slice(1)}` };
}
