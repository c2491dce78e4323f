import { embed, query, type Sql } from '../../../platform/database.ts';
import { EstateError, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx, Work } from '../../kernel/context.ts';
import { recordFile, type StoredContent } from '../../kernel/files/files.store.ts';
import { enqueueJob } from '../../kernel/jobs/jobs.enqueue.ts';
import { JOB_CANCEL_CHANNEL } from '../../kernel/jobs/jobs.lease.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { requireTransferRights } from './transfer.check.ts';
import { ENDED, RETENTION_DAYS, unstage } from './transfer.cleanup.ts';
import type { TransferStatus } from './transfer.types.ts';
import { workspaceApplyJob, workspaceParseJob } from './workspace.jobs.ts';

const DAY_MS = 86_400_000;

const STATUS = `case when ${ENDED} then 'failed' else t.status end`;

const ANSWER = `json_build_object('id', t.id, 'filename', t.filename, 'status', ${STATUS},
  'format_version', t.format_version, 'source_url', t.source_url, 'diff', t.diff, 'result', t.result,
  'error_message', case when ${ENDED} then 'The job was cancelled.' else t.error_message end,
  'job_id', t.job_id, 'created_at', utc(t.created_at), 'previewed_at', utc(t.previewed_at), 'applied_at', utc(t.applied_at))::text`;

/** A transfer as its JSON text. @throws EstateError `forbidden`, `not_found`. */
export async function readTransfer(ctx: Ctx, id: string, sql: Sql = ctx.db): Promise<JsonText> {
  requireTransferRights(ctx.caller);
  const rows = await query(sql).rows`select ${embed(ANSWER)} as item from workspace_transfers t
    where t.id = ${id}::uuid`;
  if (!rows[0]) throw notFound('transfer', id);
  return rows[0].item;
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
    const [{ id }] = await work
      .sql('workspace_transfers')
      .insert({ filename, file_id: content.id, created_by: ctx.caller.userId })
      .returning('id');
    const job = await enqueueJob(ctx, work, workspaceParseJob, { transfer_id: id });
    await work.sql('workspace_transfers').where({ id }).update({ job_id: job.job_id });
    const { size, sha256 } = content;
    work.emit({
      event_type: 'import.started',
      data: { format: 'workspace', transfer_id: id, import_job_id: job.job_id, size, sha256 },
    });
    return await readTransfer(ctx, id, work.sql);
  });
}

interface LockedTransfer {
  status: TransferStatus;
  file_id: string;
  job_id: string | null;
}

async function lockTransfer({ sql }: Work, id: string): Promise<LockedTransfer> {
  const rows = await query(sql).rows`select ${embed(STATUS)} as status, t.file_id, t.job_id
    from workspace_transfers t where t.id = ${id}::uuid for update of t`;
  if (!rows[0]) throw notFound('transfer', id);
  return rows[0];
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
    const job = await enqueueJob(ctx, work, workspaceApplyJob, { transfer_id: id });
    await work.sql('workspace_transfers').where({ id }).update({ status: 'applying', job_id: job.job_id });
    work.emit({
      event_type: 'import.started',
      data: { format: 'workspace', transfer_id: id, import_job_id: job.job_id, applies: true },
    });
    return await readTransfer(ctx, id, work.sql);
  });
}

/**
 * Deletes a transfer with its archive, and cancels a running preview. Applied changes are kept.
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
    await sql('workspace_transfers').where({ id }).delete();
    work.emit({
      event_type: 'import.discarded',
      data: { format: 'workspace', transfer_id: id, was: status },
    });
  });
}
