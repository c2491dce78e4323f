import type { Sql } from '../../platform/database.ts';
import type { Plan, PlanItem, PlanTask } from './plan.types.ts';

/** The plan of an initiative with the titles, in three statements. */
export interface TitledPlan extends Plan {
  titles: Map<string, string>;
}

/** Reads the work breakdown and the tasks of an initiative. */
export async function loadWork(
  sql: Sql,
  cardId: string,
): Promise<{ items: (PlanItem & { title: string })[]; tasks: (PlanTask & { title: string })[] }> {
  const { rows: items } = await sql.raw(
    `select id, title, parent_id, start_date::text, end_date::text, is_milestone, completion::float8 as completion
     from ppm_wbs where card_id = ?::uuid order by id`,
    [cardId],
  );
  const { rows: tasks } = await sql.raw(
    `select id, title, wbs_id, status, start_date::text, due_date::text
     from ppm_tasks where card_id = ?::uuid order by id`,
    [cardId],
  );
  return { items, tasks };
}

/** Reads the whole plan of an initiative. */
export async function loadPlan(sql: Sql, cardId: string): Promise<TitledPlan> {
  const { items, tasks } = await loadWork(sql, cardId);
  const { rows: dependencies } = await sql.raw(
    `select coalesce(pred_task_id, pred_wbs_id) as pred, coalesce(succ_task_id, succ_wbs_id) as succ
     from ppm_dependencies where card_id = ?::uuid order by id`,
    [cardId],
  );
  const titles = new Map([...items, ...tasks].map(({ id, title }) => [id, title]));
  return { items, tasks, dependencies, titles };
}
