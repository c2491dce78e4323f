import type { Sql } from '../../../platform/database.ts';
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

/** The rows of a query as one JSON array, made by the database: one value is read sooner than thousands of rows. */
const list = (table: string, members: string): string =>
  `(select coalesce(json_agg(json_build_object(${members}) order by t.id), '[]') from ${table} t
    where t.card_id = ?::uuid)`;

const items = list(
  'ppm_wbs',
  `'id', t.id, 'parent_id', t.parent_id, 'start_date', t.start_date, 'end_date', t.end_date,
   'is_milestone', t.is_milestone, 'completion', t.completion`,
);
const tasks = list(
  'ppm_tasks',
  `'id', t.id, 'wbs_id', t.wbs_id, 'status', t.status, 'start_date', t.start_date, 'due_date', t.due_date`,
);

/** Reads the work breakdown and the tasks of an initiative, in one statement that sees one moment. */
export async function loadWork(sql: Sql, cardId: string): Promise<PlannedWork> {
  const { rows } = await sql.raw(`select ${items} as items, ${tasks} as tasks`, [cardId, cardId]);
  return rows[0];
}

/** Columns of a table as arrays in the order of the ids. */
const columns = (members: Record<string, string>): string =>
  Object.entries(members)
    .map(([name, sql]) => `coalesce(json_agg(${sql} order by t.id), '[]') as ${name}`)
    .join(', ');

const startDay = `t.start_date - date '1970-01-01'`;
const daysTo = (column: string): string => `greatest(1, t.${column} - t.start_date)`;

/** One row of columns by statement; of the other table's rows the ids serve as places, which are found once read. */
const reads = {
  items: `select ${columns({
    ids: 't.id',
    titles: 't.title',
    above: 't.parent_id',
    starts: startDay,
    days: `case when t.is_milestone then 0 else ${daysTo('end_date')} end`,
  })} from ppm_wbs t`,
  tasks: `select ${columns({
    ids: 't.id',
    titles: 't.title',
    above: 't.wbs_id',
    starts: startDay,
    days: daysTo('due_date'),
  })} from ppm_tasks t`,
  dependencies: `select ${columns({
    preds: 'coalesce(t.pred_task_id, t.pred_wbs_id)',
    succs: 'coalesce(t.succ_task_id, t.succ_wbs_id)',
  })} from ppm_dependencies t`,
};

interface Parts {
  ids: string[];
  titles: string[];
  above: (string | null)[];
  starts: (number | null)[];
  days: number[];
}

/** Reads the whole plan of an initiative, in one statement that sees one moment. */
export async function loadPlan(sql: Sql, cardId: string): Promise<TitledPlan> {
  const parts = Object.entries(reads).map(
    ([name, read]) => `(select to_json(r) from (${read} where t.card_id = ?::uuid) r) as ${name}`,
  );
  const { rows } = await sql.raw(`select ${parts.join(', ')}`, [cardId, cardId, cardId]);
  const read: { items: Parts; tasks: Parts; dependencies: { preds: string[]; succs: string[] } } = rows[0];
  const all = <K extends keyof Parts>(column: K) =>
    [...read.items[column], ...read.tasks[column]] as Parts[K];
  const ids = all('ids');
  const places = new Map(ids.map((id, place) => [id, place]));
  const placesOf = (of: readonly (string | null)[]) => of.map((id) => places.get(id ?? '') ?? -1);
  // while a plan is brought back part by part, what others hang on may still be missing
  const [preds, succs] = [placesOf(read.dependencies.preds), placesOf(read.dependencies.succs)];
  const whole = (_: number, at: number): boolean => preds[at]! >= 0 && succs[at]! >= 0;
  return {
    ids,
    items: read.items.ids.length,
    titles: all('titles'),
    above: Int32Array.from(placesOf(all('above'))),
    starts: Float64Array.from(all('starts'), (day) => day ?? Number.NaN),
    days: Float64Array.from(all('days')),
    preds: Int32Array.from(preds.filter(whole)),
    succs: Int32Array.from(succs.filter(whole)),
  };
}
