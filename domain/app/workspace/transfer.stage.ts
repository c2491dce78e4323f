import type { Knex } from 'knex';
import { type Db, embed, inTransaction, query, sqlState } from '../../../platform/database.ts';
import { storageErrors } from '../../../platform/storable.ts';
import type { JobTransaction } from '../../kernel/jobs/jobs.running.ts';
import { type Archive, linesOf } from './workspace.archive.ts';
import { ArchiveError, type ArchivePart, rowsName } from './workspace.manifest.ts';
import { exchangeIds } from './workspace.people.ts';
import type { TableShape } from './workspace.schema.ts';
import { contentTable, PEOPLE, SETTINGS } from './workspace.tables.ts';
import type { ContentTable } from './workspace.types.ts';

/** What rows of an archive are staged with. */
export interface Staging {
  db: Db;
  transferId: string;
  archive: Archive;
  shapes: ReadonlyMap<string, TableShape>;
  /** Ids of the archive, with the ids of the same objects here; filled while kinds are matched. */
  ids: Map<string, string>;
  signal: AbortSignal;
  /** Called in each transaction with the number of rows that it has staged. */
  staged(work: JobTransaction, rows: number): Promise<void>;
}

const ROWS = 1_000;
const CHARACTERS = 4_000_000;
/** Kinds whose rows contain no ids of other rows. */
const asSent: ReadonlySet<string> = new Set([PEOPLE, 'process_contents', 'process_content_elements']);

/** What identifies a row of a kind, as an expression over its JSON. */
function refOf(kind: string, json: string): string {
  const columns = kind === PEOPLE ? ['id'] : kind === SETTINGS ? ['key'] : contentTable.get(kind)!.key;
  return `concat_ws('/', ${columns.map((column) => `${json} ->> '${column}'`).join(', ')})`;
}

/** The part with the rows of a kind: an older service may not have had any. */
export const partOf = (archive: Archive, kind: string): ArchivePart | undefined =>
  archive.part(rowsName(kind));

/** The columns of a kind's rows, all of which this service has. @throws ArchiveError for any other. */
export function columnsOf(
  { archive }: Pick<Staging, 'archive'>,
  { table }: ContentTable,
  shape: TableShape,
): string[] {
  const columns = partOf(archive, table)?.columns ?? [];
  const unknown = columns.find((column) => !shape.columns.includes(column));
  if (unknown !== undefined) {
    throw new ArchiveError(
      `The archive contains ${table}.${unknown.slice(0, 60)}, which this service does not support.`,
    );
  }
  return columns;
}

/** Inserts the rows of a kind into the staging table, with the ids that are known by now. @throws ArchiveError */
export async function stageRows(staging: Staging, kind: string): Promise<void> {
  const part = partOf(staging.archive, kind);
  if (!part) return;
  let batch: string[] = [];
  let size = 0;
  let line = 0;
  const flush = async () => {
    if (batch.length === 0) return;
    staging.signal.throwIfAborted();
    const rows = batch;
    const from = line - rows.length;
    await inTransaction(staging.db, async (sql) => {
      await insertRows(sql, staging.transferId, kind, rows, from);
      await staging.staged({ sql }, rows.length);
    });
    batch = [];
    size = 0;
  };
  for await (const lines of linesOf(staging.archive, part)) {
    for (const text of lines) {
      line += 1;
      requireObject(text, kind, line);
      const row = asSent.has(kind) ? text : exchangeIds(text, staging.ids);
      batch.push(row);
      size += row.length;
      if (batch.length >= ROWS || size >= CHARACTERS) await flush();
    }
  }
  await flush();
}

function requireObject(text: string, kind: string, line: number): void {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // reported below
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ArchiveError(`Line ${line} of ${kind} is no JSON object.`);
  }
  const [fault] = storageErrors(value);
  if (fault) {
    throw new ArchiveError(
      `Line ${line} of ${kind} cannot be stored: ${fault.field.slice(0, 200)} ${fault.message}.`,
    );
  }
}

/** Whether PostgreSQL refused a value: SQLSTATE classes 22, 23 and 54. */
export const isRowError = (error: unknown): boolean => /^(?:22|23|54)/.test(sqlState(error) ?? '');

async function insertRows(
  sql: Knex.Transaction,
  transferId: string,
  kind: string,
  rows: string[],
  from: number,
): Promise<void> {
  try {
    await query(sql).run`insert into workspace_transfer_rows (transfer_id, kind, line, content, ref)
       select ${transferId}::uuid, ${kind}, ${from} + v.n, v.content, ${embed(refOf(kind, 'v.content'))}
       from (select n, x.text::jsonb as content from unnest(${rows}::text[]) with ordinality x (text, n)) v`;
  } catch (error) {
    if (!isRowError(error)) throw error;
    throw new ArchiveError(`A row of ${kind} near line ${from + 1} cannot be stored.`);
  }
}
