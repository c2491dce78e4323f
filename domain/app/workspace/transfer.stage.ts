import {
  type Db,
  embed,
  fragment,
  inTransaction,
  query,
  type Sql,
  sqlState,
  type Transaction,
} from '../../../platform/database.ts';
import { EstateError } from '../../../platform/errors.ts';
import { storageErrors } from '../../../platform/storable.ts';
import type { JobTransaction } from '../../kernel/jobs/jobs.running.ts';
import type { Services } from '../../kernel/services.ts';
import {
  type Archive,
  ArchiveError,
  type ArchivePart,
  linesOf,
  openArchive,
  rowsName,
} from './workspace.archive.ts';
import { exchangeIds } from './workspace.people.ts';
import { contentTable, PEOPLE, SETTINGS } from './workspace.tables.ts';
import type { ContentTable } from './workspace.types.ts';

/** A column that refers to another table. */
interface Reference {
  column: string;
  table: string;
  target: string;
  /** The action if the referenced row is deleted: `n` sets null, others delete the row or prevent the deletion. */
  onDelete: string;
}

/** A unique index besides the primary key, as expressions over the table's columns. */
interface UniqueIndex {
  name: string;
  expressions: string[];
  /** The condition of a partial index. */
  predicate: string | null;
}

/** A check constraint: an expression over the table's columns, and the columns that it uses. */
export interface TableCheck {
  expression: string;
  columns: string[];
}

/** A table in the database's catalogue. */
export interface TableShape {
  /** The columns that go into archives, in the order of the table. */
  columns: string[];
  types: Record<string, string>;
  references: Reference[];
  uniques: UniqueIndex[];
  /** NOT NULL columns. */
  required: string[];
  checks: TableCheck[];
}

interface OfTable {
  table: string;
}

/** The last migration step of the schema, as its version. */
export async function schemaVersion(sql: Sql): Promise<string> {
  return await query(sql).value`select max(name collate "C") as version from schema_steps`;
}

/** Opens the archive of a transfer. @throws EstateError `not_found` if it was discarded; ArchiveError. */
export async function openTransferArchive({ db, blobs }: Services, id: string): Promise<Archive> {
  const file = await db('workspace_transfers as t')
    .join('files as f', 'f.id', 't.file_id')
    .where({ 't.id': id })
    .first('f.id', 'f.size');
  if (!file) throw new EstateError('not_found', 'The transfer was discarded.');
  return await openArchive(blobs, file, await schemaVersion(db));
}

/** Reads the definitions of tables from PostgreSQL's catalogue, so that new columns are always included. */
export async function readShapes(
  sql: Sql,
  tables: readonly ContentTable[],
): Promise<ReadonlyMap<string, TableShape>> {
  const names = tables.map(({ table }) => table);
  const inTables = embed(
    fragment`c.relnamespace = 'public'::regnamespace and c.relname = any(${names}::text[])`,
  );
  const { rows } = query(sql);
  const columns = await rows<OfTable & { column: string; type: string; required: boolean }>`
    select c.relname as "table", a.attname as "column", format_type(a.atttypid, a.atttypmod) as type,
      a.attnotnull as required
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where ${inTables} and a.attnum > 0 and not a.attisdropped and a.attgenerated = '' and a.attidentity = ''
     order by c.relname, a.attnum`;
  const references = await rows<Reference & { of: string }>`
    select c.relname as "of", a.attname as "column", r.relname as "table", b.attname as target,
       k.confdeltype as "onDelete"
     from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class r on r.oid = k.confrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
     join pg_attribute b on b.attrelid = r.oid and b.attnum = k.confkey[1]
     where k.contype = 'f' and ${inTables} order by k.conname`;
  const uniques = await rows<OfTable & UniqueIndex>`select c.relname as "table", i.relname as name,
       array(select pg_get_indexdef(x.indexrelid, n, true) from generate_series(1, x.indnkeyatts) n) as expressions,
       pg_get_expr(x.indpred, x.indrelid) as predicate
     from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
     where x.indisunique and not x.indisprimary and ${inTables} order by i.relname`;
  const checks = await rows<OfTable & TableCheck>`
    select c.relname as "table", pg_get_expr(k.conbin, k.conrelid) as expression,
       array(select a.attname::text from unnest(k.conkey) with ordinality n (at, place)
             join pg_attribute a on a.attrelid = k.conrelid and a.attnum = n.at order by n.place) as columns
     from pg_constraint k join pg_class c on c.oid = k.conrelid
     where k.contype = 'c' and ${inTables} order by k.conname`;
  return new Map(
    tables.map(({ table, omitted = [] }) => {
      const own = columns.filter((row) => row.table === table);
      const exported = own.filter(({ column }) => !omitted.includes(column));
      return [
        table,
        {
          columns: exported.map(({ column }) => column),
          types: Object.fromEntries(own.map(({ column, type }) => [column, type])),
          references: references.filter(({ of }) => of === table),
          uniques: uniques.filter((row) => row.table === table),
          required: exported.filter(({ required }) => required).map(({ column }) => column),
          checks: checks.filter((row) => row.table === table),
        },
      ];
    }),
  );
}

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
  const [error] = storageErrors(value);
  if (error) {
    throw new ArchiveError(
      `Line ${line} of ${kind} cannot be stored: ${error.field.slice(0, 200)} ${error.message}.`,
    );
  }
}

/** Whether PostgreSQL refused a value: SQLSTATE classes 22, 23 and 54. */
export const isRowError = (error: unknown): boolean => /^(?:22|23|54)/.test(sqlState(error) ?? '');

async function insertRows(
  sql: Transaction,
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

/**
 * The staged rows of a table in SQL, with each also as a row of the table, as `n`. OFFSET prevents the planner from
 * reading the JSON once for each column of `n` that is used.
 */
export const stagedRows = (table: string, transferId: string) =>
  embed(fragment`(select s.*, x.n from workspace_transfer_rows s
    cross join lateral (select jsonb_populate_record(null::${embed(table)}, s.content) as n offset 0) x
    where s.transfer_id = ${transferId}::uuid and s.kind = ${table})`);

/**
 * Matches users by their addresses. Unknown users get an id of this service.
 */
export async function matchPeople({ db, transferId, ids }: Staging): Promise<void> {
  const rows = await query(db).rows`with found as (
       update workspace_transfer_rows s
       set action = case when u.id is null then 'create' else 'unchanged' end,
         content = s.content || jsonb_build_object('id', coalesce(u.id, uuidv7()))
       from workspace_transfer_rows r
       left join users u on lower(u.email) = lower(r.content ->> 'email')
       where r.transfer_id = ${transferId}::uuid and r.kind = '${embed(PEOPLE)}'
         and s.transfer_id = r.transfer_id and s.kind = r.kind and s.line = r.line
       returning s.ref as from_id, s.content ->> 'id' as to_id, s.line
     )
     insert into workspace_transfer_ids (transfer_id, from_id, to_id)
     select distinct on (from_id) ${transferId}::uuid, from_id, to_id from found order by from_id, line
     returning from_id, to_id`;
  for (const { from_id, to_id } of rows) ids.set(from_id, to_id);
  await query(db).run`update workspace_transfer_rows set ref = content ->> 'id'
    where transfer_id = ${transferId}::uuid and kind = '${embed(PEOPLE)}'`;
}

/**
 * Matches rows that have another id here by other unique columns, and replaces their ids: in their own table now, in other tables
 * when those are staged.
 */
export async function matchRows(staging: Staging, table: ContentTable): Promise<void> {
  const { db, transferId, shapes, ids } = staging;
  for (const expressions of table.matches ?? []) {
    const same = expressions.map(
      (expression) => `${expression.replaceAll('%', 't')} = ${expression.replaceAll('%', '(s.n)')}`,
    );
    const rows = await query(db).rows`insert into workspace_transfer_ids (transfer_id, from_id, to_id)
       select distinct on (s.ref) s.transfer_id, s.ref, t.id::text
       from ${stagedRows(table.table, transferId)} s join ${embed(table.table)} t on ${embed(same.join(' and '))}
       where t.id <> (s.n).id and not exists (select from ${embed(table.table)} o where o.id = (s.n).id)
       order by s.ref, t.id on conflict do nothing returning from_id, to_id`;
    if (rows.length === 0) continue;
    for (const { from_id, to_id } of rows) ids.set(from_id, to_id);
    const own = shapes.get(table.table)!.references.filter(({ table: other }) => other === table.table);
    for (const column of ['id', ...own.map((reference) => reference.column)]) {
      await exchange(db, transferId, table.table, column);
    }
    await query(db).run`update workspace_transfer_rows set ref = content ->> 'id'
       where transfer_id = ${transferId}::uuid and kind = ${table.table} and ref <> content ->> 'id'`;
  }
}

async function exchange(sql: Sql, transferId: string, kind: string, column: string): Promise<void> {
  await query(sql).run`update workspace_transfer_rows s
    set content = s.content || jsonb_build_object(${column}::text, i.to_id)
     from workspace_transfer_ids i
     where s.transfer_id = ${transferId}::uuid and s.kind = ${kind} and i.transfer_id = s.transfer_id
       and i.from_id = s.content ->> ${column}`;
}

/** Computes the depth of each row among rows of its kind, so that parents are written before their children. */
export async function measureDepths(
  { db, transferId, shapes }: Staging,
  { table }: ContentTable,
): Promise<void> {
  const column = shapes.get(table)!.references.find((reference) => reference.table === table)?.column;
  if (column === undefined) return;
  const parent = `s.content ->> '${column}'`;
  await query(db).run`with recursive below as (
       select s.line, s.ref, 0 as depth from workspace_transfer_rows s
       where s.transfer_id = ${transferId}::uuid and s.kind = ${table} and not exists (
         select from workspace_transfer_rows p
         where p.transfer_id = s.transfer_id and p.kind = s.kind and p.ref = ${embed(parent)})
       union all
       select s.line, s.ref, b.depth + 1 from below b
       join workspace_transfer_rows s on s.transfer_id = ${transferId}::uuid and s.kind = ${table}
       and ${embed(parent)} = b.ref
     )
     update workspace_transfer_rows s set depth = b.depth from below b
     where s.transfer_id = ${transferId}::uuid and s.kind = ${table} and s.line = b.line and b.depth > 0`;
  await query(db).run`update workspace_transfer_rows s
     set action = 'conflict', reason = '{"code": "parent_cycle", "message": "is its own ancestor"}'
     where s.transfer_id = ${transferId}::uuid and s.kind = ${table} and s.depth = 0 and exists (
       select from workspace_transfer_rows p
       where p.transfer_id = s.transfer_id and p.kind = s.kind and p.ref = ${embed(parent)})`;
}

/** @throws ArchiveError if the archive contains a row twice. */
export async function requireOnce({ db, transferId }: Staging, kind: string): Promise<void> {
  const rows = await query(db).rows`select ref from workspace_transfer_rows
    where transfer_id = ${transferId}::uuid and kind = ${kind}
     group by ref having count(*) > 1 limit 1`;
  if (rows[0])
    throw new ArchiveError(`The archive contains ${kind} ${String(rows[0].ref).slice(0, 100)} twice.`);
}
