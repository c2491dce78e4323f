import { buffer } from 'node:stream/consumers';
import type { ExportRequest } from '../../domain/exchange/exports/export.job.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import { openContent } from '../../domain/kernel/files/files.store.ts';
import { startExport } from '../../reports/exchange/extraction/exports.job.ts';
import type { TestServices } from './harness.ts';
import { untilStatus } from './jobs.ts';

/** A request for an export: all cards as CSV, unless the values say otherwise. */
export const exportRequest = (more: Partial<ExportRequest> = {}): ExportRequest => ({
  format: 'csv',
  kind: 'cards',
  types: [],
  filter: '',
  columns: [],
  include: [],
  profile: 'report',
  neutralise: true,
  ...more,
});

/** Exports, and waits for the file. */
export async function exported(
  { services }: TestServices,
  ctx: Ctx,
  more: Partial<ExportRequest>,
  limitMs?: number,
) {
  const { job_id } = await startExport(ctx, exportRequest(more));
  const job = await untilStatus(services, job_id, 'succeeded', limitMs);
  return { job, content: await buffer(await openContent(services.blobs, job.result_file_id!)) };
}
