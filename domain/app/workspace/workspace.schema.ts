import { query, type Sql } from '../../../platform/database.ts';
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

/** The last migration step of the schema, as its version. */
export async function schemaVersion(sql: Sql): Promise<string> {
  const rows = await query(sql).rows`select max(name collate "C") as version from schema_steps`;
  return rows[0].version;
}

/** Reads the definitions of tables from PostgreSQL's catalogue, so that new columns are always included. */
export async function readShapes(
  sql: Sql,
  tables: readonly ContentTable[],
): Promise<ReadonlyMap<string, TableShape>> {
  const names = tables.map(({ table }) => table);
  const columns = await query(sql).rows`select c.relname as "table", a.attname as "column",
    format_type(a.atttypid, a.atttypmod) as type, a.attnotnull as required
     from pg_class c join pg_attribute a on a.attrelid = c.oid
     where c.relnamespace = 'public'::regnamespace and c.relname = any(${names}::text[]) and a.attnum > 0
       and not a.attisdropped and a.attgenerated = '' and a.attidentity = ''
     order by c.relname, a.attnum`;
  const references = await query(sql).rows`select c.relname as "from", a.attname as "column",
    r.relname as "table", b.attname as target,
       k.confdeltype as "onDelete"
     from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_class r on r.oid = k.confrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = k.conkey[1]
     join pg_attribute b on b.attrelid = r.oid and b.attnum = k.confkey[1]
     where k.contype = 'f' and c.relnamespace = 'public'::regnamespace and c.relname = any(${names}::text[])
     order by k.conname`;
  const uniques = await query(sql).rows`select c.relname as "table", i.relname as name,
       array(select pg_get_indexdef(x.indexrelid, n, true)
       from generate_series(1, x.indnkeyatts) n) as expressions,
       pg_get_expr(x.indpred, x.indrelid) as predicate
     from pg_index x join pg_class c on c.oid = x.indrelid join pg_class i on i.oid = x.indexrelid
     where x.indisunique and not x.indisprimary and c.relnamespace = 'public'::regnamespace
       and c.relname = any(${names}::text[]) order by i.relname`;
  const checks = await query(sql).rows`select c.relname as "table",
    pg_get_expr(k.conbin, k.conrelid) as expression,
       array(select a.attname::text from unnest(k.conkey) with ordinality n (at, place)
             join pg_attribute a on a.attrelid = k.conrelid and a.attnum = n.at order by n.place) as columns
     from pg_constraint k join pg_class c on c.oid = k.conrelid
     where k.contype = 'c' and c.relnamespace = 'public'::regnamespace and c.relname = any(${names}::text[])
     order by k.conname`;
  return new Map(
    tables.map(({ table, left = [] }) => {
      const own = columns.filter((row: { table: string }) => row.table === table);
      const kept = own.filter(({ column }: { column: string }) => !left.includes(column));
      return [
        table,
        {
          columns: kept.map(({ column }: { column: string }) => column),
          types: Object.fromEntries(
            own.map((row: { column: string; type: string }) => [row.column, row.type]),
          ),
          references: references.filter((row: { from: string }) => row.from === table),
          uniques: uniques.filter((row: { table: string }) => row.table === table),
          required: kept
            .filter(({ required }: { required: boolean }) => required)
            .map(({ column }: { column: string }) => column),
          checks: checks.filter((row: { table: string }) => row.table === table),
        },
      ];
    }),
  );
}
