import { embed, query, type Sql } from '../../../platform/database.ts';
import type { StagedCard } from './imports.cards.types.ts';
import type { StagedRelation } from './imports.relations.stage.ts';
import type { ImportKind } from './imports.row.ts';
import type { RowOutcome } from './imports.types.ts';

/** The table with the staged rows of a kind. */
export const rowsTable: Record<ImportKind, string> = {
  cards: 'import_card_rows',
  relations: 'import_relation_rows',
};

/** The table with the plan of a kind. */
export const planTable: Record<ImportKind, string> = {
  cards: 'import_card_plan',
  relations: 'import_relation_plan',
};

const columns: Record<ImportKind, string> = {
  cards: `line integer, type text, id uuid, external_id text, name text, status text, parent_by text, parent_id uuid,
    parent_external_id text, parent_path text[], level text, errors jsonb, new_errors jsonb, bytes integer,
    payload json`,
  relations: `line integer, type text, id uuid, source_id uuid, source_external_id text, target_id uuid,
    target_external_id text, errors jsonb, bytes integer, payload json`,
};

/** Writes staged rows in one statement. */
export async function storeRows(
  sql: Sql,
  jobId: string,
  kind: ImportKind,
  rows: (StagedCard | StagedRelation)[],
): Promise<void> {
  const names = columns[kind].split(',').map((column) => column.trim().split(' ')[0]);
  await sql.raw(
    `insert into ${rowsTable[kind]} (job_id, ${names.join(', ')})
     select ?::uuid, ${names.map((name) => `v.${name}`).join(', ')}
     from json_to_recordset(?::json) as v(${columns[kind]})`,
    [jobId, JSON.stringify(rows)],
  );
}

/** How many rows of the file are staged. */
export async function countRows(sql: Sql, jobId: string, kind: ImportKind): Promise<number> {
  return await query(sql).value`select count(*)::int as n from ${embed(rowsTable[kind])}
    where job_id = ${jobId}`;
}

/** Stores the outcomes of rows, in one statement. */
export async function storeOutcomes(sql: Sql, jobId: string, outcomes: RowOutcome[]): Promise<void> {
  if (outcomes.length === 0) return;
  await query(sql).run`insert into import_outcomes (job_id, line, outcome, errors)
     select ${jobId}::uuid, v.line, v.outcome, v.errors
     from jsonb_to_recordset(${JSON.stringify(outcomes)}::jsonb) as v(line integer, outcome text,
     errors jsonb)`;
}

const tables = [...Object.values(rowsTable), ...Object.values(planTable), 'import_outcomes'];
const CLEAN_BATCH = 20_000;
/** How long a failed or cancelled import can be resumed. */
export const RESUME_DAYS = 7;

/** Deletes the working data of an import that has ended. */
export async function removeStaged(db: Sql, jobId: string): Promise<void> {
  for (const table of tables) await db(table).where({ job_id: jobId }).delete();
}

/**
 * Deletes a batch of the working data of imports that succeeded, can no longer be resumed, or no longer exist.
 * @returns the number of deleted rows.
 */
export async function removeStale(sql: Sql): Promise<number> {
  let removed = 0;
  for (const table of tables) {
    const { rowCount } = await sql.raw(
      `delete from ${table} where ctid = any(array(
         select t.ctid from ${table} t left join jobs j on j.id = t.job_id
         where j.id is null or j.status = 'succeeded'
           or (j.status in ('failed', 'cancelled') and j.finished_at < now() - interval '${RESUME_DAYS} days')
         limit ${CLEAN_BATCH}))`,
    );
    removed += rowCount as number;
  }
  return removed;
}
