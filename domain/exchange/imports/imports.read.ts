import { inTransaction } from '../../../platform/database.ts';
import { openContent } from '../../kernel/files/files.store.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import type { ImportPayload } from './imports.job.ts';
import { readSource } from './imports.source.ts';
import { createStager } from './imports.stage.ts';
import { storeRows } from './imports.staging.ts';
import { type ImportProgress, shares } from './imports.types.ts';

/** Reads the uploaded file into the staging table; rows that an earlier run has stored are left out. */
export async function readFile(
  job: RunningJob<ImportPayload>,
  { db, blobs }: Services,
  from: { line: number },
  readRows: number,
): Promise<ImportProgress> {
  const { payload, ctx, signal } = job;
  const file = await db('files').where({ id: payload.file_id }).first('size');
  const content = await openContent(blobs, payload.file_id);
  let bytes = 0;
  async function* metered() {
    for await (const chunk of content) {
      bytes += chunk.length;
      yield chunk as Buffer;
    }
  }
  const stage = await createStager(ctx, db, payload.kind);
  let total = job.counts.total ?? 0;
  let pending: Promise<void> = Promise.resolve();
  for await (const rows of readSource(metered(), ctx.metamodel, payload.kind, payload, readRows)) {
    signal.throwIfAborted();
    const fresh = rows.filter(({ line }) => line > from.line);
    if (fresh.length === 0) continue;
    const staged = await stage(db, fresh);
    total += fresh.length;
    const step = {
      progress: Math.min(1, bytes / Math.max(1, Number(file?.size))) * shares.read,
      message: `Reading: ${total} rows`,
      counts: { total },
      checkpoint: { stage: 'read', line: fresh.at(-1)!.line } satisfies ImportProgress,
    };
    await pending;
    // the next rows are read while these are written
    pending = inTransaction(db, async (sql) => {
      await storeRows(sql, job.id, payload.kind, staged);
      await job.checkpoint({ sql }, step);
    });
    pending.catch(() => undefined);
  }
  await pending;
  return { stage: 'plan' };
}
