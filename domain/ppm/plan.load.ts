import type { Sql } from '../../platform/database.ts';
import type { Plan, PlanDependency, PlanItem, PlanTask } from './plan.types.ts';

type Titled<T> = T & { title: string };

/** The work breakdown and the tasks of an initiative. */
export interface PlannedWork {
  items: Titled<PlanItem>[];
  tasks: Titled<PlanTask>[];
}

/** The plan of an initiative with the titles. */
export interface TitledPlan extends Plan {
  titles: Map<string, string>;
}

/** The rows of a query as one JSON array, made by the database: one value is read sooner than thousands of rows. */
const list = (table: string, members: string): string =>
  `(select coalesce(json_agg(json_build_object(${members}) order by t.id), '[]') from ${table} t
    where t.card_id = ?::uuid)`;

const items = list(
  'ppm_wbs',
  `'id', t.id, 'title', t.title, 'parent_id', t.parent_id, 'start_date', t.start_date, 'end_date', t.end_date,
   'is_milestone', t.is_milestone, 'completion', t.completion`,
);
const tasks = list(
  'ppm_tasks',
  `'id', t.id, 'title', t.title, 'wbs_id', t.wbs_id, 'status', t.status, 'start_date', t.start_date,
   'due_date', t.due_date`,
);
const dependencies = list(
  'ppm_dependencies',
  `'pred', coalesce(t.pred_task_id, t.pred_wbs_id), 'succ', coalesce(t.succ_task_id, t.succ_wbs_id)`,
);

/** Reads the work breakdown and the tasks of an initiative, in one statement that sees one moment. */
export async function loadWork(sql: Sql, cardId: string): Promise<PlannedWork> {
  const { rows } = await sql.raw(`select ${items} as items, ${tasks} as tasks`, [cardId, cardId]);
  return rows[0];
}

/** Reads the whole plan of an initiative in the same way. */
export async function loadPlan(sql: Sql, cardId: string): Promise<TitledPlan> {
  const { rows } = await sql.raw(
    `select ${items} as items, ${tasks} as tasks, ${dependencies} as dependencies`,
    [cardId, cardId, cardId],
  );
  const plan: PlannedWork & { dependencies: PlanDependency[] } = rows[0];
  const titles = new Map([...plan.items, ...plan.tasks].map(({ id, title }) => [id, title]));
  return { ...plan, titles };
}
