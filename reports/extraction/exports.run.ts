import { PassThrough } from 'node:stream';
import { may } from '../../domain/access/policy.ts';
import { recordFile, storeContent } from '../../domain/files/files.store.ts';
import type { JobResult, RunningJob } from '../../domain/jobs/jobs.running.ts';
import type { ExportRequest } from '../../domain/jobs/kinds/export.ts';
import type { Services } from '../../domain/services.ts';
import { inTransaction } from '../../platform/database.ts';
import { withSnapshot } from '../../platform/snapshot.ts';
import { manifestOf, type Written } from './extraction.manifest.ts';
import { exportName, mediaTypes } from './extraction.names.ts';
import { planExtraction, snapshotPosition } from './extraction.plan.ts';
import { prepareExtraction } from './extraction.write.ts';

/** Writes the file of an export job from one snapshot and makes it the job's result, and its manifest. */
export async function runExport(job: RunningJob<ExportRequest>, services: Services): Promise<JobResult> {
  const { ctx, payload: request } = job;
  const plan = await planExtraction(ctx, request);
  const { content, written } = await withSnapshot(services.db, async (snapshot) => {
    const takenAt = new Date();
    const position = await snapshotPosition(snapshot, request.after);
    const { tables, write } = await prepareExtraction(snapshot, ctx, plan, position);
    const expected = tables.reduce((sum, table) => sum + table.expected, 0);
    const rowsOf = new Map<string, number>();
    let rows = 0;
    const out = new PassThrough();
    const stored = storeContent(services.blobs, out);
    // it may fail before anybody waits for it, as when the job is cancelled
    stored.catch(() => undefined);
    try {
      await write(out, {
        signal: job.signal,
        onRows: (more, table) => {
          rows += more;
          rowsOf.set(table, (rowsOf.get(table) ?? 0) + more);
          job.progress(Math.min(rows / Math.max(expected, 1), 0.99), `${rows} rows`, { rows });
        },
      });
    } catch (error) {
      out.destroy(error as Error);
      await stored.catch(() => undefined);
      throw error;
    }
    const counted = tables.map(({ name, columns }) => ({ name, columns, rows: rowsOf.get(name) ?? 0 }));
    const done: Written & { rows: number } = { request, position, takenAt, tables: counted, rows };
    return { content: await stored, written: done };
  });
  return await inTransaction(services.db, async (sql) => {
    const file = await recordFile(sql, content, {
      name: exportName(request, new Date()),
      mediaType: mediaTypes[request.format],
      ownerId: ctx.caller.userId,
      withCosts: may(ctx.caller, 'costs.view'),
      // goes with its job
      expiresAt: null,
    });
    const { rows } = written;
    const done: JobResult = {
      fileId: file.id,
      message: `${rows} rows`,
      counts: { rows, total: rows },
      result: { ...manifestOf(written, file) },
    };
    await job.finish({ sql }, done);
    return done;
  });
}
