import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { BlobStore } from '../../../platform/blobs.ts';
import type { Transaction } from '../../../platform/database.ts';
import { EstateError, type FieldError } from '../../../platform/errors.ts';
import { shortened } from '../../kernel/choices.ts';
import type { Ctx } from '../../kernel/context.ts';
import {
  recordDownload,
  recordFile,
  type StoredContent,
  type StoredFile,
  storeContent,
} from '../../kernel/files/files.store.ts';
import type { RunningJob } from '../../kernel/jobs/jobs.running.ts';
import { formerFields } from '../../kernel/metamodel/deprecations.ts';
import type { Metamodel } from '../../kernel/metamodel/metamodel.compile.ts';
import { may, requirePermission } from '../../kernel/permissions/policy.ts';
import { isObject } from '../../kernel/shapes.ts';
import { restore } from '../../kernel/transfer/csv-cells.ts';
import type { ImportPayload } from './imports.job.ts';
import type { ImportKind } from './imports.row.ts';
import { importReport, linesFrom } from './imports.rows.ts';
import type { SentRow } from './imports.sent.ts';

/*
 * The failed rows of an import as they were sent, with the reasons: so they are downloaded, corrected and sent again after the
 * upload was deleted. Each line of the file is a head or a row; a head applies to the rows up to the next one.
 */

/** The columns of rows; for rows of NDJSON only which are costs. */
export interface FailedHead {
  sheet?: string;
  header?: string[];
  /** The names of the columns, as errors call them. */
  names?: string[];
  /** The names of those with costs when the file was imported. */
  costs: string[];
}

/** A failed row: its cells without escapes, its object of NDJSON, or its text if it could not be read. */
export interface FailedLine {
  line: number;
  cells?: string[];
  row?: Record<string, unknown>;
  /** Shown to those who see costs, as nobody knows which of its values are some. */
  text?: string;
  reasons: string;
}

/** Maximum characters of the text of a failed row. */
const MAX_TEXT = 8_000;

/** Why a row has failed, in a cell. */
const reasonsOf = (errors: readonly FieldError[]): string =>
  errors
    .map(({ field, message, nearest }) => {
      const meant = nearest === undefined ? '' : ` (perhaps ${nearest})`;
      return `${field === 'row' ? '' : `${field}: `}${message}${meant}`;
    })
    .join('; ');

/** The names of the columns with costs, also by former keys of their fields. */
function costColumns({ cardTypes, relationTypes, aliases }: Metamodel): Set<string> {
  const present = [...cardTypes.values(), ...relationTypes.values()].flatMap(({ costKeys }) => costKeys);
  const former = formerFields({ aliases }).flatMap(({ type, key, present: now }) =>
    cardTypes.get(type)?.costKeys.includes(now) ? key : [],
  );
  return new Set([...present, ...former].map((key) => `attributes.${key}`));
}

/** The value of a row that an error is about. */
function sentValue({ cells, names, row, isCsv }: SentRow, field: string): string | undefined {
  if (cells) {
    const cell = cells[names!.indexOf(field)];
    return cell === undefined || !isCsv ? cell : restore(cell);
  }
  const [part, key] = /^(lifecycle|attributes)\.(.*)$/s.exec(field)?.slice(1) ?? [];
  const values = part === undefined ? row : row?.[part];
  const value = isObject(values) ? values[key ?? field] : undefined;
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

interface ReportLine {
  line: number;
  sheet?: string;
  outcome: string;
  errors: FieldError[];
}

/** Writes the failed rows of an import beside its report. */
export class FailedRows {
  readonly #out = new PassThrough();
  readonly #stored: Promise<StoredContent>;
  readonly #sent: AsyncIterator<SentRow>;
  readonly #costs: Set<string>;
  readonly #kind: ImportPayload['kind'];
  #head: SentRow['header'] | null = null;
  #count = 0;

  /** @param sent the rows of the file, in its order. */
  constructor(
    blobs: BlobStore,
    sent: AsyncIterable<SentRow>,
    { metamodel, kind }: { metamodel: Metamodel; kind: ImportPayload['kind'] },
  ) {
    this.#stored = storeContent(blobs, this.#out);
    // it may fail before anybody awaits it
    this.#stored.catch(() => undefined);
    this.#sent = sent[Symbol.asyncIterator]();
    this.#costs = costColumns(metamodel);
    this.#kind = kind;
  }

  /** The lines of the report, with the values that errors are about. */
  async *withValues(report: AsyncIterable<string>): AsyncGenerator<string> {
    try {
      for await (const chunk of report) {
        let text = '';
        for (const line of chunk.split('\n')) {
          if (line === '') continue;
          const read: ReportLine = JSON.parse(line);
          text += read.outcome === 'failed' ? `${JSON.stringify(await this.#take(read))}\n` : `${line}\n`;
        }
        yield text;
      }
    } catch (error) {
      this.#out.destroy(error as Error);
      throw error;
    }
  }

  /** Ends the file. */
  async finish(): Promise<{ content: StoredContent; rows: number }> {
    await this.#sent.return?.();
    this.#out.end();
    return { content: await this.#stored, rows: this.#count };
  }

  /** Stores a failed row. @returns its line of the report. */
  async #take(read: ReportLine): Promise<ReportLine> {
    const sent = await this.#find(read);
    const errors = read.errors.map((error) => this.#withValue(error, sent));
    if (sent && (this.#count === 0 || sent.header !== this.#head)) {
      const { sheet, header, names } = sent;
      const costs = [...(names?.filter((name) => this.#costs.has(name)) ?? this.#costs)];
      await this.#write({ sheet, header, names, costs } satisfies FailedHead);
      this.#head = header;
    }
    const { row, isCsv, text: whole } = sent ?? {};
    const cells = isCsv ? sent?.cells?.map(restore) : sent?.cells;
    const text = whole && whole.length > MAX_TEXT ? `${whole.slice(0, MAX_TEXT)}…` : whole;
    await this.#write({ line: read.line, cells, row, text, reasons: reasonsOf(errors) } satisfies FailedLine);
    this.#count += 1;
    return { ...read, errors };
  }

  /** The row of the file: both are in its order. */
  async #find({ line, sheet }: ReportLine): Promise<SentRow | undefined> {
    for (;;) {
      const { value, done } = await this.#sent.next();
      if (done) return undefined;
      if (value.line === line && value.sheet === sheet) return value;
    }
  }

  #withValue(error: FieldError, sent: SentRow | undefined): FieldError {
    const { field } = error;
    if (error.value !== undefined || !sent) return error;
    if (this.#costs.has(field) || (this.#kind === 'costs' && field === 'amount')) return error;
    const value = sentValue(sent, field)?.trim();
    return value ? { ...error, value: shortened(value) } : error;
  }

  async #write(line: FailedHead | FailedLine): Promise<void> {
    if (this.#out.write(`${JSON.stringify(line)}\n`)) return;
    await Promise.race([once(this.#out, 'drain'), this.#stored]);
  }
}

/** How long failed rows are stored. */
const KEPT_DAYS = 30;
const DAY_MS = 86_400_000;

/** Makes the failed rows a file beside the report. @returns a member of the job's result. */
export async function storeFailedRows(
  sql: Transaction,
  { ctx }: Pick<RunningJob, 'ctx'>,
  failed: FailedRows,
): Promise<{ file_id: string; rows: number; expires_at: string }> {
  const { content, rows } = await failed.finish();
  const expiresAt = new Date(Date.now() + KEPT_DAYS * DAY_MS);
  await recordFile(sql, content, {
    ...{ name: 'failed-rows.ndjson', mediaType: 'application/x-ndjson', ownerId: ctx.caller.userId },
    ...{ withCosts: true, needs: [], expiresAt },
  });
  return { file_id: content.id, rows, expires_at: expiresAt.toISOString() };
}

/** The failed rows of an import, to be downloaded with the rights of its report. */
export interface StoredRows {
  /** The file of the report. */
  report: StoredFile;
  kind: ImportKind;
  /** Reads the stored lines from the beginning. */
  lines(): AsyncGenerator<FailedHead | FailedLine>;
  /** Whether the caller sees the values of a column. */
  shows(name: string, costs: readonly string[]): boolean;
  /** Why the row has failed; of a row that could not be read also what was sent, if the caller sees all of it. */
  reasons(line: FailedLine, head: FailedHead | undefined): string;
}

/**
 * Finds the failed rows of an import.
 * @throws EstateError `not_found`, `job_result_missing`, `forbidden` like the download of its report; `job_result_missing` if it
 * has no failed rows, or they are no longer stored.
 */
export async function readFailedRows(ctx: Ctx, blobs: BlobStore, jobId: string): Promise<StoredRows> {
  const report = await importReport(ctx, jobId);
  const { result }: { result: { kind: ImportKind; failed_rows?: { file_id: string } } } = await ctx
    .db('jobs')
    .where({ id: jobId })
    .first('result');
  const id = result.failed_rows?.file_id;
  const file = id && (await ctx.db('files').where({ id }).whereRaw('expires_at > now()').first('size'));
  if (!id || !file) {
    const why = id ? 'they have expired' : 'there are none';
    throw new EstateError(
      'job_result_missing',
      `The failed rows of the import ${jobId} are not stored: ${why}.`,
    );
  }
  const { kind } = result;
  const seesCosts = may(ctx.caller, 'costs.view');
  if (kind === 'costs') requirePermission(ctx.caller, 'costs.view');
  const hidden = costColumns(ctx.metamodel);
  await recordDownload(ctx, { job_id: jobId }, report, undefined);
  const shows = (name: string, costs: readonly string[]) =>
    seesCosts || !(hidden.has(name) || costs.includes(name));
  return {
    ...{ report, kind, shows },
    reasons({ text, reasons }, head) {
      if (!text) return reasons;
      const seesAll = seesCosts || head?.names?.every((name) => shows(name, head.costs));
      return seesAll ? `${reasons}: ${text}` : `${reasons}; its values are left out, since some may be costs`;
    },
    async *lines() {
      for await (const line of linesFrom(blobs, { id, size: Number(file.size) }, 0)) {
        yield JSON.parse(line.toString('utf8'));
      }
    },
  };
}
