import { PassThrough } from 'node:stream';
import { may } from '../../domain/access/policy.ts';
import { recordFile, storeContent } from '../../domain/files/files.store.ts';
import type { JobResult, RunningJob } from '../../domain/jobs/jobs.running.ts';
import type { ExportRequest } from '../../domain/jobs/kinds/export.ts';
import type { Services } from '../../domain/services.ts';
import { inTransaction } from '../../platform/database.ts';
import { withSnapshot } from '../../platform/snapshot.ts';
import { exportName, mediaTypes } from './extraction.names.ts';
import { planExtraction, snapshotPosition } from './extraction.plan.ts';
import { prepareExtraction } from './extraction.write.ts';

/** Writes the file of an export job from one snapshot and makes it the job's result. */
export async function runExport(job: RunningJob<ExportRequest>, services: Services): Promise<JobResult> {
  const { ctx, payload: request } = job;
  const plan = await planExtraction(ctx, request);
  const { content, result, rows } = await withSnapshot(services.db, async (snapshot) => {
    const position = await snapshotPosition(snapshot);
    const { tables, write } = await prepareExtraction(snapshot, ctx, plan);
    const total = tables.reduce((sum, table) => sum + table.total, 0);
    let written = 0;
    const out = new PassThrough();
    const stored = storeContent(services.blobs, out);
    // it may fail before anybody waits for it, as when the job is cancelled
    stored.catch(() => undefined);
    try {
      await write(out, {
        signal: job.signal,
        onRows: (rows) => {
          written += rows;
          job.progress(total === 0 ? 1 : written / total, `${written} of ${total} rows`, {
            rows: written,
            total,
          });
        },
      });
    } catch (error) {
      out.destroy(error as Error);
      await stored.catch(() => undefined);
      throw error;
    }
    return {
      content: await stored,
      rows: total,
      result: {
        kind: request.kind,
        format: request.format,
        position,
        rows: Object.fromEntries(tables.map((table) => [table.name, table.total])),
        columns: plan.columns.map(({ header }) => header),
      },
    };
  });
  return await inTransaction(services.db, async (sql) => {
    const moment = new Date();
    const file = await recordFile(sql, content, {
      name: exportName(request, moment),
      mediaType: mediaTypes[request.format],
      ownerId: ctx.caller.userId,
      withCosts: may(ctx.caller, 'costs.view'),
      // goes with its job
      expiresAt: null,
    });
    const done: JobResult = {
      fileId: file.id,
      message: `${rows} rows`,
      counts: { rows, total: rows },
      result: { ...result, file: { name: file.name, size: file.size, sha256: file.sha256 } },
    };
    await job.finish({ sql }, done);
    return done;
  });
}
