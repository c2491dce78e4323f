import { type Db, embed, query } from '../../../platform/database.ts';
import { type Staging, stagedAs } from './transfer.stage.ts';
import {
  type KindCounts,
  MAX_NAMED,
  type Reason,
  type RowAction,
  type SkippedRow,
} from './transfer.types.ts';
import { contentTable, contentTables } from './workspace.tables.ts';
import type { ContentTable } from './workspace.types.ts';

/** Columns that are not compared. */
const NOT_COMPARED = new Set(['created_at', 'created_by', 'updated_at', 'updated_by']);

/** Determines for each row of a kind whether it is new, changed, unchanged or in conflict. */
export async function compareRows(staging: Staging, table: ContentTable, columns: string[]): Promise<void> {
  const { db, transferId } = staging;
  const keys = table.key.map((column) => `t.${column} = (s.n).${column}`).join(' and ');
  const compared = columns.filter((column) => !NOT_COMPARED.has(column));
  const here = compared.map((column) => `t.${column}`).join(', ');
  const there = compared.map((column) => `(s.n).${column}`).join(', ');
  await db.raw(
    `update workspace_transfer_rows r set action = d.action,
       reason = case d.action when 'conflict' then
         '{"code": "differs", "message": "is here with another content, and is not changed by imports"}'::jsonb end
     from (
       select s.line, case when t.${table.key[0]} is null then 'create'
         when row(${here}) is not distinct from row(${there}) then 'unchanged'
         else '${changeable(table) ? 'update' : 'conflict'}' end as action
       from ${stagedAs(table.table)} s left join ${table.table} t on ${keys}
     ) d
     where r.transfer_id = ?::uuid and r.kind = ? and r.line = d.line and r.action is null`,
    [transferId, table.table, transferId, table.table],
  );
  await findTaken(staging, table);
}

/** Whether an import may update existing rows of the kind. */
const changeable = ({ events }: ContentTable): boolean => events?.updated !== undefined;

/** Marks rows that a unique index would refuse. */
async function findTaken({ db, transferId, shapes }: Staging, table: ContentTable): Promise<void> {
  for (const { name, expressions, predicate } of shapes.get(table.table)!.uniques) {
    const values = expressions.map((expression, n) => `${expression} as e${n}`).join(', ');
    const equal = expressions.map((expression, n) => `(${expression}) = v.e${n}`).join(' and ');
    const other = table.key.map((column) => `o.${column} <> (s.n).${column}`).join(' or ');
    await db.raw(
      `update workspace_transfer_rows r set action = 'conflict',
         reason = jsonb_build_object('code', ?::text, 'message', 'another ${table.what} here has it already: ' || d.label)
       from (
         select s.line, h.label from ${stagedAs(table.table)} s
         cross join lateral (select ${values}, (${predicate ?? 'true'}) as counts from (select (s.n).*) x) v
         cross join lateral (
           select ${table.label.replaceAll('t.', 'o.')} as label from ${table.table} o
           where ${equal} and (${predicate ?? 'true'}) and (${other}) limit 1
         ) h
         where s.action in ('create', 'update') and v.counts
       ) d
       where r.transfer_id = ?::uuid and r.kind = ? and r.line = d.line`,
      [`taken:${name}`, transferId, table.table, transferId, table.table],
    );
  }
}

/** Marks rows that refer to rows neither in the workspace nor in the archive; repeated while further rows lose their parents. */
export async function findDangling({ db, transferId, shapes }: Staging, table: ContentTable): Promise<void> {
  for (const { column, table: other, target } of shapes.get(table.table)!.references) {
    if (!contentTable.has(other) && other !== 'users') continue;
    for (;;) {
      const { rowCount } = (await db.raw(
        `update workspace_transfer_rows r set action = 'conflict',
           reason = jsonb_build_object('code', 'unknown_reference', 'field', '${column}', 'message',
             '${column} names ${contentTable.get(other)?.what ?? 'a user'} ' || (r.content ->> '${column}')
               || ', which is neither here nor imported')
         from (
           select s.line from ${stagedAs(table.table)} s
           where s.action in ('create', 'update') and (s.n).${column} is not null
             and not exists (select from ${other} o where o.${target} = (s.n).${column})
             and not exists (
               select from workspace_transfer_rows x where x.transfer_id = s.transfer_id and x.kind = '${other}'
                 and x.ref = (s.n).${column}::text and x.action = 'create')
         ) d
         where r.transfer_id = ?::uuid and r.kind = ? and r.line = d.line`,
        [transferId, table.table, transferId, table.table],
      )) as { rowCount: number };
      if (rowCount === 0 || other !== table.table) break;
    }
  }
}

/** Marks rows as skipped, each with its reason. */
export async function skipRows(
  { db, transferId }: Pick<Staging, 'db' | 'transferId'>,
  kind: string,
  left: ({ line: number } & Reason)[],
): Promise<void> {
  if (left.length === 0) return;
  await query(db).run`update workspace_transfer_rows r set action = 'conflict',
       reason = jsonb_build_object('code', v.code, 'message', v.message, 'field', v.field)
     from jsonb_to_recordset(${JSON.stringify(left)}::jsonb) as v(line integer, code text, message text,
     field text)
     where r.transfer_id = ${transferId}::uuid and r.kind = ${kind} and r.line = v.line`;
}

const nothing = (): KindCounts => ({ create: 0, update: 0, unchanged: 0, conflict: 0 });

/** The number of rows by action, of each kind and in total. */
export async function countActions(
  db: Db,
  transferId: string,
): Promise<{ kinds: Record<string, KindCounts>; totals: KindCounts }> {
  const rows = await query(db).rows`select kind, action, count(*)::int as n from workspace_transfer_rows
     where transfer_id = ${transferId}::uuid and action is not null group by 1, 2`;
  const totals = nothing();
  const found = new Map<string, KindCounts>();
  for (const { kind, action, n } of rows as { kind: string; action: RowAction; n: number }[]) {
    const counts = found.get(kind) ?? nothing();
    counts[action] += n;
    totals[action] += n;
    found.set(kind, counts);
  }
  const order = ['users', ...contentTables.map(({ table }) => table), 'settings'];
  return {
    kinds: Object.fromEntries(order.flatMap((kind) => (found.has(kind) ? [[kind, found.get(kind)!]] : []))),
    totals,
  };
}

/** The first skipped rows of each kind, for the report. */
export async function skippedRows(db: Db, transferId: string): Promise<SkippedRow[]> {
  const rows = await query(db).rows`select kind, line, ref, reason, names from (
       select kind, line, ref, reason, content, row_number() over (partition by kind order by line) as place
       from workspace_transfer_rows
       where transfer_id = ${transferId}::uuid and action = 'conflict' order by place, kind
       limit ${embed(MAX_NAMED)}) named
     -- without the rest of them, which may be large
     cross join lateral (
       select jsonb_object_agg(k, left(content ->> k, ${embed(MAX_NAME)})) as names
       from unnest(${[...NAMES, 'type']}::text[]) k where jsonb_typeof(content -> k) = 'string') shown
     order by kind, line`;
  return (rows as Stored[]).map(({ kind, line, names, ref, reason }) => ({
    kind,
    key: nameOf(names ?? {}) ?? ref,
    line,
    ...reason,
    field: reason.field || null,
  }));
}

/** A skipped row, with the members that may name it. */
interface Stored {
  kind: string;
  line: number;
  ref: string;
  reason: Reason;
  names: Record<string, string> | null;
}

/** Members by which a report names a row; the first that it has. */
const NAMES = ['external_id', 'reference', 'key', 'name', 'title', 'email'];
const MAX_NAME = 300;

/** How a report names a row. */
function nameOf(names: Record<string, string>): string | undefined {
  const own = NAMES.map((name) => names[name]).find((name) => name !== undefined);
  if (own === undefined) return undefined;
  return (names.type === undefined ? own : `${names.type}/${own}`).slice(0, MAX_NAME);
}
