import type { Sql } from '../../../platform/database.ts';

/** Keeps with rows that are about to delete records what these hold. */
export async function keepHeld(
  sql: Sql,
  runId: string,
  rows: readonly { no: number; held: object }[],
): Promise<void> {
  if (rows.length === 0) return;
  await sql.raw(
    `update itsm_plan_rows p set held = v.held from json_to_recordset(?::json) as v(no integer, held jsonb)
     where p.run_id = ? and p.no = v.no`,
    [JSON.stringify(rows), runId],
  );
}

/** What a record held before a row deleted it; null where nothing was kept. */
export async function heldBefore(sql: Sql, runId: string, no: number): Promise<unknown> {
  const row = await sql('itsm_plan_rows').where({ run_id: runId, no }).first('held');
  return row?.held ?? null;
}

/** The record that a run has made anew for a deleted one, and whether it is still going to make it. */
export async function restoredAs(
  sql: Sql,
  runId: string,
  remoteId: string,
): Promise<{ id: string | null; isAwaited: boolean }> {
  const { rows } = await sql.raw(
    `select made_id, progress in ('pending', 'begun') as is_awaited from itsm_plan_rows
     where run_id = ? and action = 'create' and row -> 'restored' ->> 'remoteId' = ?`,
    [runId, remoteId],
  );
  return { id: rows[0]?.made_id ?? null, isAwaited: rows[0]?.is_awaited ?? false };
}
