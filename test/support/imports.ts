import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { Ctx } from '../../domain/context.ts';
import { openContent, storeContent } from '../../domain/files/files.store.ts';
import { type ImportOptions, startImport } from '../../domain/imports/imports.start.ts';
import type { Services } from '../../domain/services.ts';
import { type JobRow, untilStatus } from './jobs.ts';

/** A line of an import's report. */
export interface ReportLine {
  line: number;
  external_id: string | null;
  outcome: string;
  errors: { field: string; code: string; message: string }[];
}

export interface Imported {
  job: JobRow;
  report: ReportLine[];
  /** `field code` of each fault, by line. */
  faults: Record<number, string[]>;
}

const defaults: ImportOptions = {
  kind: 'cards',
  format: 'csv',
  mode: 'create',
  dry_run: false,
  atomic: false,
  empty: 'leave',
  report: 'failed',
};

/** Asks for an import of a text; a worker has to carry it out. @returns the job's id. */
export async function askImport(
  ctx: Ctx,
  services: Services,
  content: string | Buffer,
  options: Partial<ImportOptions> = {},
): Promise<string> {
  const stored = await storeContent(services.blobs, Readable.from([Buffer.from(content)]));
  return (await startImport(ctx, services.blobs, stored, { ...defaults, ...options })).job_id;
}

/** Waits for the end of an import and reads its report. */
export async function importResult(services: Services, id: string, limitMs?: number): Promise<Imported> {
  const job = await untilStatus(services, id, 'succeeded', limitMs);
  const content = await text(await openContent(services.blobs, job.result_file_id!));
  const report: ReportLine[] = content
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  const faults = Object.fromEntries(
    report
      .filter(({ errors }) => errors.length > 0)
      .map(({ line, errors }) => [line, errors.map(({ field, code }) => `${field} ${code}`)]),
  );
  return { job, report, faults };
}
