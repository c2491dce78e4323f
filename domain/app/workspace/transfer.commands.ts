import Type from 'typebox';
import { embed, query, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { recordFile, type StoredContent } from '../../kernel/files/files.store.ts';
import { enqueueJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { JOB_CANCEL_CHANNEL } from '../../kernel/jobs/jobs.lease.ts';
import { columnMembers, readItem } from '../../kernel/lists/lists.run.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { deleteRows, insertRow, updateRow } from '../../kernel/resources/rows.ts';
import { requireTransferRights } from './transfer.check.ts';
import { ENDED, RETENTION_DAYS, unstage } from './transfer.cleanup.ts';
import { type TransferRow, WorkspaceTransfer } from './transfer.model.ts';
import { workspaceApplyJob, workspaceParseJob } from './workspace.jobs.ts';

const DAY_MS = 86_400_000;

const STATUS = `case when ${ENDED} then 'failed' else t.status end`;

/** The members of a transfer that are shown. */
export const { properties: transferMembers } = Type.Omit(Type.Object(WorkspaceTransfer.columns), [
  'file_id',
  'created_by',
]);

const transferItem = {
  from: 'workspace_transfers t',
  id: 't.id',
  members: {
    ...columnMembers('t', { columns: transferMembers }),
    status: STATUS,
    error_message: `case when ${ENDED} then 'The job was cancelled.' else t.error_message end`,
  },
};

/** A transfer as its JSON text. @throws EstateError `forbidden`, `not_found`. */
export async function readTransfer(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  requireTransferRights(ctx.caller);
  return await readItem(sql, transferItem, 'transfer', id);
}

/** Creates a transfer from an uploaded archive, and starts the job that previews it. @throws EstateError `forbidden`. */
export async function startTransfer(ctx: Ctx, content: StoredContent, filename: string): Promise<JsonText> {
  requireTransferRights(ctx.caller);
  return await command(ctx, async (work) => {
    await recordFile(work.sql, content, {
      name: filename,
      mediaType: 'application/zip',
      ownerId: ctx.caller.userId,
      withCosts: true,
      needs: [],
      expiresAt: new Date(Date.now() + RETENTION_DAYS * DAY_MS),
    });
    const values = { filename, file_id: content.id, created_by: ctx.caller.userId };
    const { id } = await insertRow(work.sql, WorkspaceTransfer, values);
    const { size, sha256 } = content;
    return await startJob(ctx, work, id, workspaceParseJob, { status: 'parsing' }, { size, sha256 });
  });
}

/** Starts a job of a transfer, with its event. @returns the transfer. */
async function startJob(
  ctx: Ctx,
  work: Work,
  id: string,
  job: typeof workspaceParseJob | typeof workspaceApplyJob,
  values: Pick<TransferRow, 'status'>,
  details: Record<string, unknown>,
): Promise<JsonText> {
  const { job_id } = await enqueueJob(ctx, work, job, { transfer_id: id });
  await updateRow(work.sql, WorkspaceTransfer, { id }, { ...values, job_id });
  const data = { format: 'workspace', transfer_id: id, import_job_id: job_id, ...details };
  work.emit({ event_type: 'import.started', data });
  return await readTransfer(ctx, id, work.sql);
}

async function lockTransfer(
  { sql }: Work,
  id: string,
): Promise<Pick<TransferRow, 'status' | 'file_id' | 'job_id'>> {
  const row = await query(sql).row`select ${embed(STATUS)} as status, t.file_id, t.job_id
    from workspace_transfers t where t.id = ${id}::uuid for update of t`;
  if (!row) throw notFound('transfer', id);
  return row;
}

/**
 * Starts the job that applies a previewed archive.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state`.
 */
export async function applyTransfer(ctx: Ctx, id: string): Promise<JsonText> {
  requireTransferRights(ctx.caller);
  return await command(ctx, async (work) => {
    const { status } = await lockTransfer(work, id);
    if (status !== 'previewed') {
      throw new EstateError('wrong_state', `Only a previewed transfer is applied; it is ${status}.`, {
        extra: { status_now: status },
      });
    }
    return await startJob(ctx, work, id, workspaceApplyJob, { status: 'applying' }, { applies: true });
  });
}

/**
 * Deletes a transfer with its archive, and cancels a running preview. Applied changes are not undone.
 * @throws EstateError `forbidden`, `not_found`, `wrong_state` while it is being applied.
 */
export async function discardTransfer(ctx: Ctx, id: string): Promise<void> {
  requireTransferRights(ctx.caller);
  await command(ctx, async (work) => {
    const { sql } = work;
    const { status, file_id, job_id } = await lockTransfer(work, id);
    if (status === 'applying') {
      throw new EstateError('wrong_state', 'The transfer is being applied: cancel its job first.', {
        extra: { status_now: status },
      });
    }
    if (status === 'parsing' && job_id) {
      await query(sql).run`update jobs set cancel_requested = true
        where id = ${job_id} and status in ('queued', 'running')`;
      await query(sql).run`select pg_notify(${JOB_CANCEL_CHANNEL}, ${job_id})`;
    }
    await unstage(sql, id);
    await sql('files').where({ id: file_id }).update({ expires_at: sql.fn.now() });
    await deleteRows(sql, WorkspaceTransfer, (query) => query.where({ id }));
    const data = { format: 'workspace', transfer_id: id, was: status };
    work.emit({ event_type: 'import.discarded', data });
  });
}
