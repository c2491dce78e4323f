import { type Db, embed, fragment, query } from '../../../platform/database.ts';
import {
  type KindCounts,
  MAX_NAMED,
  type Reason,
  type RowAction,
  type SkippedRow,
} from './transfer.model.ts';
import { type Staging, stagedRows } from './transfer.stage.ts';
import { contentTable, contentTables } from './workspace.tables.ts';
import type { ContentTable } from './workspace.types.ts';

/** Columns that are not compared. */
const NOT_COMPARED = new Set(['created_at', 'created_by', 'updated_at', 'updated_by']);

/** Determines for each row of a kind whether it is new, changed, unchanged or in conflict. */
export async function compareRows(staging: Staging, table: ContentTable, columns: string[]): Promise<void> {
  const { db, transferId } = staging;
  const keys = table.key.map((column) => `t.${column} = (s.n).${column}`).join(' and ');
  const compared = columns.filter((column) => !NOT_COMPARED.has(column) && !table.derived?.includes(column));
  const here = compared.map((column) => `t.${column}`).join(', ');
  const there = compared.map((column) => `(s.n).${column}`).join(', ');
  // an import may only update rows of kinds with an event for it
  const changed = table.events?.updated === undefined ? 'conflict' : 'update';
  await query(db).run`update workspace_transfer_rows r set action = d.action,
       reason = case d.action when 'conflict' then
         '{"code": "differs", "message": "is here with another content, and is not changed by imports"}'::jsonb end
     from (
       select s.line, case when t.${embed(table.key[0]!)} is null then 'create'
         when row(${embed(here)}) is not distinct from row(${embed(there)}) then 'unchanged'
         else '${embed(changed)}' end as action
       from ${stagedRows(table.table, transferId)} s left join ${embed(table.table)} t on ${embed(keys)}
     ) d
     where r.transfer_id = ${transferId}::uuid and r.kind = ${table.table} and r.line = d.line and r.action is null`;
  await findTaken(staging, table);
}

type Target = Pick<Staging, 'db' | 'transferId'>;
type SqlPart = ReturnType<typeof fragment>;

/**
 * Skips the rows `s` of a table that match a condition, unless they are skipped or unchanged; `s.n` is the row of the table.
 * The condition is a template like those of {@link query}: the rest of a query, with joins and `where`.
 * @param reason the reason, or SQL of it as JSON.
 * @returns how many rows.
 */
export const skipMatching =
  ({ db, transferId }: Target, table: string, reason: Reason | SqlPart) =>
  async (texts: TemplateStringsArray, ...values: unknown[]): Promise<number> => {
    const why = 'sql' in reason ? reason : fragment`${JSON.stringify(reason)}::jsonb`;
    return await query(db).count`update workspace_transfer_rows r set action = 'conflict', reason = d.reason
     from (
       select s.line, ${embed(why)} as reason
       from (select * from ${stagedRows(table, transferId)} o where coalesce(o.action, 'create') in ('create', 'update')) s
       ${embed(fragment(texts, ...values))}
     ) d
     where r.transfer_id = ${transferId}::uuid and r.kind = ${table} and r.line = d.line`;
  };

/** Marks rows that a unique index would refuse. */
async function findTaken(
  staging: Staging,
  { table, name: noun, key, label, derived = [] }: ContentTable,
): Promise<void> {
  for (const { name, expressions, predicate } of staging.shapes.get(table)!.uniques) {
    // The service sets another value.
    if (derived.some((column) => expressions.some((text) => new RegExp(`\\b${column}\\b`).test(text))))
      continue;
    const values = expressions.map((expression, n) => `${expression} as e${n}`).join(', ');
    const equal = expressions.map((expression, n) => `(${expression}) = v.e${n}`).join(' and ');
    const other = key.map((column) => `o.${column} <> (s.n).${column}`).join(' or ');
    const counts = embed(predicate ?? 'true');
    const message = `another ${noun} here has it already: `;
    const reason = fragment`jsonb_build_object('code', ${`taken:${name}`}::text,
         'message', ${message}::text || h.label)`;
    await skipMatching(
      staging,
      table,
      reason,
    )`cross join lateral (select ${embed(values)}, (${counts}) as counts from (select (s.n).*) x) v
         cross join lateral (
           select ${embed(label.replaceAll('t.', 'o.'))} as label from ${embed(table)} o
           where ${embed(equal)} and (${counts}) and (${embed(other)}) limit 1
         ) h
         where v.counts`;
  }
}

/** Marks rows that refer to rows neither in the workspace nor in the archive; repeated while further rows lose their parents. */
export async function findDangling(staging: Staging, { table }: ContentTable): Promise<void> {
  for (const { column, table: other, target } of staging.shapes.get(table)!.references) {
    if (!contentTable.has(other) && other !== 'users') continue;
    const named = `${column} names ${contentTable.get(other)?.name ?? 'a user'} `;
    const at = embed(`(s.n).${column}`);
    const reason = fragment`jsonb_build_object('code', 'unknown_reference', 'field', ${column}::text, 'message',
       ${named}::text || (s.content ->> ${column}) || ', which is neither here nor imported')`;
    for (;;) {
      const count = await skipMatching(staging, table, reason)`where ${at} is not null
             and not exists (select from ${embed(other)} o where o.${embed(target)} = ${at})
             and not exists (
               select from workspace_transfer_rows x where x.transfer_id = s.transfer_id and x.kind = ${other}
                 and x.ref = ${at}::text and x.action = 'create')`;
      if (count === 0 || other !== table) break;
    }
  }
}

/** Marks rows as skipped, each with its reason. */
export async function skipRows(
  { db, transferId }: Target,
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
  const entries = order.flatMap((kind) => (found.has(kind) ? [[kind, found.get(kind)!]] : []));
  return { kinds: Object.fromEntries(entries), totals };
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
