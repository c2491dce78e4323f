import { queryRows, type Sql } from '../../../platform/database.ts';
import type { Plan, PlanItem, PlanTask } from './plan.types.ts';

/** The work breakdown and the tasks of an initiative. */
export interface PlannedWork {
  items: PlanItem[];
  tasks: PlanTask[];
}

/** The plan of an initiative with the titles of its parts. */
export interface TitledPlan extends Plan {
  titles: readonly string[];
}

/** The rows of a query as one JSON array: the driver reads one value faster than thousands of rows. */
const list = (table: string, members: string): string =>
  `(select coalesce(json_agg(json_build_object(${members}) order by t.id), '[]') from ${table} t
    where t.card_id = ?::uuid)`;

const itemList = list(
  'ppm_wbs',
  `'id', t.id, 'parent_id', t.parent_id, 'start_date', t.start_date, 'end_date', t.end_date,
   'is_milestone', t.is_milestone, 'completion', t.completion`,
);
const taskList = list(
  'ppm_tasks',
  `'id', t.id, 'wbs_id', t.wbs_id, 'status', t.status, 'start_date', t.start_date, 'due_date', t.due_date`,
);

/** Reads the work breakdown and the tasks of an initiative, in one statement and so in one snapshot. */
export async function loadWork(sql: Sql, cardId: string): Promise<PlannedWork> {
  const [work] = await queryRows<PlannedWork>(sql, `select ${itemList} as items, ${taskList} as tasks`, [
    cardId,
    cardId,
  ]);
  return work!;
}

/** Columns of a table as arrays in the order of the ids. */
const columns = (members: Record<string, string>): string =>
  Object.entries(members)
    .map(([name, sql]) => `coalesce(json_agg(${sql} order by t.id), '[]') as ${name}`)
    .join(', ');

const startDay = `t.start_date - date '1970-01-01'`;
const daysTo = (column: string): string => `greatest(1, t.${column} - t.start_date)`;

/** Each reads one row of columns. References are ids, which are resolved to indexes after the read. */
const reads = {
  items: `select ${columns({
    ids: 't.id',
    titles: 't.title',
    parents: 't.parent_id',
    starts: startDay,
    days: `case when t.is_milestone then 0 else ${daysTo('end_date')} end`,
  })} from ppm_wbs t`,
  tasks: `select ${columns({
    ids: 't.id',
    titles: 't.title',
    parents: 't.wbs_id',
    starts: startDay,
    days: daysTo('due_date'),
  })} from ppm_tasks t`,
  dependencies: `select ${columns({
    preds: 'coalesce(t.pred_task_id, t.pred_wbs_id)',
    succs: 'coalesce(t.succ_task_id, t.succ_wbs_id)',
  })} from ppm_dependencies t`,
};

interface ReadParts {
  ids: string[];
  titles: string[];
  parents: (string | null)[];
  starts: (number | null)[];
  days: number[];
}

/** Reads the whole plan of an initiative, in one statement and so in one snapshot. */
export async function loadPlan(sql: Sql, cardId: string): Promise<TitledPlan> {
  const parts = Object.entries(reads).map(
    ([name, read]) => `(select to_json(r) from (${read} where t.card_id = ?::uuid) r) as ${name}`,
  );
  const [read] = await queryRows<{
    items: ReadParts;
    tasks: ReadParts;
    dependencies: { preds: string[]; succs: string[] };
  }>(sql, `select ${parts.join(', ')}`, [cardId, cardId, cardId]);
  const { items, tasks, dependencies } = read!;
  const ids = [...items.ids, ...tasks.ids];
  const indexes = new Map(ids.map((id, index) => [id, index]));
  const indexesOf = (of: readonly (string | null)[]) => of.map((id) => indexes.get(id ?? '') ?? -1);
  // while an undo restores a plan part by part, the ends of dependencies may still be missing
  const [preds, succs] = [indexesOf(dependencies.preds), indexesOf(dependencies.succs)];
  const hasEnds = (_: number, n: number): boolean => preds[n]! >= 0 && succs[n]! >= 0;
  return {
    ids,
    items: items.ids.length,
    titles: [...items.titles, ...tasks.titles],
    parents: Int32Array.from(indexesOf([...items.parents, ...tasks.parents])),
    starts: Float64Array.from([...items.starts, ...tasks.starts], (day) => day ?? Number.NaN),
    days: Float64Array.from([...items.days, ...tasks.days]),
    preds: Int32Array.from(preds.filter(hasEnds)),
    succs: Int32Array.from(succs.filter(hasEnds)),
  };
}
