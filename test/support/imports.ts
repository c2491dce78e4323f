import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { type ImportOptions, startImport } from '../../domain/exchange/imports/imports.run.ts';
import type { Ctx } from '../../domain/kernel/context.ts';
import { openContent, storeContent } from '../../domain/kernel/files/files.store.ts';
import type { JobProcessor } from '../../domain/kernel/jobs/jobs.running.ts';
import type { Services } from '../../domain/kernel/services.ts';
import { startWorkers } from '../../workers/runtime.ts';
import { closeAfterAll, createTestServices, jsonLines } from './harness.ts';
import { type JobRow, untilReported } from './jobs.ts';

/** A line of an import's report. */
interface ReportLine {
  line: number;
  sheet?: string;
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
  const job = await untilReported(services, id, limitMs);
  const report: ReportLine[] = jsonLines(await text(await openContent(services.blobs, job.result_file_id!)));
  const faults = Object.fromEntries(
    report
      .filter(({ errors }) => errors.length > 0)
      .map(({ line, errors }) => [line, errors.map(({ field, code }) => `${field} ${code}`)]),
  );
  return { job, report, faults };
}

/** Rows as a file of NDJSON. */
export const ndjson = (rows: object[]): string => rows.map((row) => `${JSON.stringify(row)}\n`).join('');

interface ImportEvent {
  position: number;
  event_type: string;
  card_id: string | null;
  peer_card_id: string | null;
  cost_keys: string[] | null;
  // biome-ignore lint/suspicious/noExplicitAny: tests read members of many shapes
  data: any;
}

/** Runs imports of a test's own, one after the other. */
export interface Importer {
  /** Imports rows as NDJSON, or a CSV text. */
  run(rows: object[] | string, options?: Partial<ImportOptions>, ctx?: Ctx): Promise<Imported>;
  /** Imports the bytes of a file. */
  file(content: Buffer, options: Partial<ImportOptions>): Promise<Imported>;
  /** The events that the last import has left, oldest first. */
  events(): Promise<ImportEvent[]>;
  // biome-ignore lint/suspicious/noExplicitAny: a row of cards
  card(externalId: string): Promise<any>;
}

/** Services with workers, and an importer. @param processors those of the test, before the program's own. */
export async function openImports(processors: JobProcessor[] = []) {
  const t = closeAfterAll(await createTestServices());
  closeAfterAll(await startWorkers(t.services, processors.length > 0 ? processors : undefined));
  return { t, db: t.services.db, imports: createImporter(t.services, await t.ctx()) };
}

export function createImporter(services: Services, owner: Ctx): Importer {
  let last: string | undefined;
  return {
    async run(rows, options = {}, ctx = owner) {
      const csv = typeof rows === 'string';
      last = await askImport(ctx, services, csv ? rows : ndjson(rows), {
        format: csv ? 'csv' : 'ndjson',
        ...options,
      });
      return await importResult(services, last);
    },
    async file(content, options) {
      last = await askImport(owner, services, content, options);
      return await importResult(services, last);
    },
    events: () => services.db('events').where({ job_id: last }).orderBy('position'),
    card: (external_id) => services.db('cards').where({ external_id }).first(),
  };
}
