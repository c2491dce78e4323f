import type { Readable } from 'node:stream';
import type { BlobStore } from '../../../platform/blobs.ts';
import { invalidField, notFound } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import { openContent, recordDownload, type StoredFile } from '../../kernel/files/files.store.ts';
import { resultFile } from '../../kernel/jobs/jobs.queries.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import { importJob } from './imports.job.ts';
import type { Outcome } from './imports.types.ts';

const NEWLINE = 0x0a;
const CHUNK = 256 * 1024;
/** How much of a report one request searches for rows of the wanted outcomes. */
const MOST_BYTES = 8 * 1024 * 1024;

/** Which rows of a report are wanted. */
interface RowsPage {
  outcome?: Outcome;
  /** The position in the report from which rows are read; absent for the first page. */
  cursor?: string;
  page_size: number;
}

/**
 * The report of an import.
 * @throws EstateError `not_found`, `job_result_missing`, `forbidden` like the download of a job's result.
 */
export async function importReport(ctx: Ctx, jobId: string): Promise<StoredFile> {
  const isImport = await ctx.db('jobs').where({ id: jobId, kind: importJob.kind }).first('id');
  if (!isImport) throw notFound('import', jobId);
  return await resultFile(ctx, jobId);
}

/** Opens the report of an import as it is stored. @throws EstateError as {@link importReport}. */
export async function openReport(
  ctx: Ctx,
  blobs: BlobStore,
  jobId: string,
): Promise<Pick<StoredFile, 'name' | 'mediaType'> & { body: Readable }> {
  const file = await importReport(ctx, jobId);
  const body = await openContent(blobs, file.id);
  await recordDownload(ctx, { job_id: jobId }, file, undefined);
  return { name: file.name, mediaType: file.mediaType, body };
}

/**
 * A page of the rows of an import's report, in the order of the file. `next_cursor` can follow fewer rows than the page has, or
 * none, if few rows have the wanted outcomes.
 * @throws EstateError `not_found`, `job_result_missing`, `forbidden` like the download of the report.
 */
export async function readImportRows(
  ctx: Ctx,
  blobs: BlobStore,
  jobId: string,
  { outcome, cursor, page_size }: RowsPage,
): Promise<JsonText> {
  const file = await importReport(ctx, jobId);
  const from = await positionOf(blobs, file, cursor);
  if (file.ownerId !== ctx.caller.userId) await recordDownload(ctx, { job_id: jobId }, file, undefined);
  const items: string[] = [];
  let at = from;
  for await (const line of linesFrom(blobs, file, from)) {
    if (items.length === page_size || at - from > MOST_BYTES) break;
    at += line.length + 1;
    const text = line.toString('utf8');
    if (!outcome || JSON.parse(text).outcome === outcome) items.push(text);
  }
  const next = at < file.size ? JSON.stringify(String(at)) : 'null';
  return `{"items":[${items.join(',')}],"next_cursor":${next}}` as JsonText;
}

/** @throws EstateError `validation_failed` unless a row begins at the position of the cursor. */
async function positionOf(blobs: BlobStore, file: StoredFile, cursor: string | undefined): Promise<number> {
  if (!cursor) return 0;
  const at = Number(cursor);
  if (/^\d{1,12}$/.test(cursor) && at > 0 && at < file.size) {
    for await (const byte of await openContent(blobs, file.id, { start: at - 1, end: at - 1 })) {
      if (byte[0] === NEWLINE) return at;
    }
  }
  throw invalidField('cursor', 'bad_cursor', 'is no cursor of this report');
}

/** The lines of a file from a position on, which is the beginning of one. */
export async function* linesFrom(
  blobs: BlobStore,
  { id, size }: Pick<StoredFile, 'id' | 'size'>,
  from: number,
): AsyncGenerator<Buffer> {
  let held = Buffer.alloc(0);
  for (let start = from; start < size; start += CHUNK) {
    const end = Math.min(start + CHUNK, size) - 1;
    for await (const chunk of await openContent(blobs, id, { start, end })) {
      held = Buffer.concat([held, chunk as Buffer]);
    }
    let begin = 0;
    for (let stop = held.indexOf(NEWLINE); stop >= 0; stop = held.indexOf(NEWLINE, begin)) {
      yield held.subarray(begin, stop);
      begin = stop + 1;
    }
    held = held.subarray(begin);
  }
}
