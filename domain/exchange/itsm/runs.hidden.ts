import type { Sql } from '../../../platform/database.ts';

/**
 * Which of these columns a run has read as empty: where both sides last agreed on a value or never have on any (nobody knows then what
 * an earlier run was not shown), or in a record without a card or about to be removed.
 */
export async function emptiedColumns(
  sql: Sql,
  runId: string,
  mappingId: string,
  fields: readonly { path: string; column: string }[],
): Promise<string[]> {
  const { rows } = await sql.raw(
    `select f.col from unnest(?::text[], ?::text[]) as f(path, col)
     where exists (
       select from itsm_run_records r
       left join itsm_pairs p on p.mapping_id = ? and p.remote_id = r.remote_id
       where r.run_id = ? and r.record is not null
         and coalesce(r.record -> 'fields' -> f.col ->> 'value', '') = ''
         and (p.remote_id is null or p.state = 'quarantined'
           or p.state = 'linked'
             and (not jsonb_exists(p.base, f.path) or coalesce(p.base -> f.path ->> 'remote', '') <> ''))
     )
     order by f.col`,
    [fields.map(({ path }) => path), fields.map(({ column }) => column), mappingId, runId] as never,
  );
  return [...new Set(rows.map(({ col }: { col: string }) => col))] as string[];
}
