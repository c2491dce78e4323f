import { embed, query, type Sql } from '../../../platform/database.ts';
import type { Staging } from './transfer.stage.ts';
import { ArchiveError } from './workspace.manifest.ts';
import { PEOPLE } from './workspace.tables.ts';
import type { ContentTable } from './workspace.types.ts';

/** The staged rows of a kind, as `s`, with each as a row of its table, as `n`. Takes transfer and kind. */
export const stagedAs = (table: string): string =>
  `(select s.*, x.n from workspace_transfer_rows s
    cross join lateral (select jsonb_populate_record(null::${table}, s.content) as n) x
    where s.transfer_id = ?::uuid and s.kind = ?)`;

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
    const { rows } = await db.raw(
      `insert into workspace_transfer_ids (transfer_id, from_id, to_id)
       select distinct on (s.ref) s.transfer_id, s.ref, t.id::text
       from ${stagedAs(table.table)} s join ${table.table} t on ${same.join(' and ')}
       where t.id <> (s.n).id and not exists (select from ${table.table} o where o.id = (s.n).id)
       order by s.ref, t.id on conflict do nothing returning from_id, to_id`,
      [transferId, table.table],
    );
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
