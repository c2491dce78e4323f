import type { Work } from '../../kernel/context.ts';
import { forgetHeard } from './runs.heard.ts';
import { changeRun } from './runs.store.ts';
import type { RunRow } from './runs.types.ts';

/** How a run ends that has not come to its end. */
export type BrokenOff =
  | { status: 'cancelled' }
  | { status: 'failed'; error_code: string; error_message: string };

/**
 * Ends a run before its end. What it has applied stays applied; a row that was being written is looked at by the next
 * run, and so is what was taken back.
 */
export async function breakOffRun(
  work: Pick<Work, 'sql' | 'emit'>,
  run: Pick<RunRow, 'id' | 'mapping_id'>,
  end: BrokenOff,
): Promise<void> {
  const { sql } = work;
  await sql.raw(
    `update itsm_books b set again = array(select distinct unnest(b.again || array(
       select p.remote_id from itsm_plan_rows p join itsm_runs r on r.id = p.run_id
       where r.id = ? and p.remote_id is not null
         and (p.progress = 'begun' or (r.trigger = 'undo' and p.progress = 'applied')))))
     where b.mapping_id = ?`,
    [run.id, run.mapping_id] as never,
  );
  await forgetHeard(sql, run.id);
  await changeRun(work, run.id, `itsm_run.${end.status}`, {
    ...end,
    completed_at: sql.raw('clock_timestamp()'),
  });
}
