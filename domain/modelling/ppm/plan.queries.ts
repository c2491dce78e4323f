import { embed, query, queryRows, type Sql, type Transaction } from '../../../platform/database.ts';
import { EstateError, invalidField } from '../../../platform/errors.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText } from '../../kernel/lists/lists.types.ts';
import {
  completionOf,
  dayNumber,
  dayText,
  hasCycle,
  type Plan,
  type PlanItem,
  type PlanTask,
  partKind,
  type Schedule,
  scheduleOf,
} from './plan.rules.ts';
import { requireInitiative, requirePpmReader } from './ppm.kinds.ts';
import { MAX_WBS_DEPTH } from './ppm.model.ts';

/** The work breakdown and the tasks of an initiative. */
interface PlannedWork {
  items: PlanItem[];
  tasks: PlanTask[];
}

/** The plan of an initiative with the titles of its parts. */
interface TitledPlan extends Plan {
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
  const text = `select ${itemList} as items, ${taskList} as tasks`;
  const [work] = await queryRows<PlannedWork>(sql, text, [cardId, cardId]);
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
  const [read] = await query(sql).rows<{
    items: ReadParts;
    tasks: ReadParts;
    dependencies: { preds: string[]; succs: string[] };
  }>`select ${embed({ sql: parts.join(', '), bindings: [cardId, cardId, cardId] })}`;
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

/** The plan with a part moved below another item, or to the top. */
function withParent(plan: Plan, id: string, parent: string | null): Plan {
  const parents = plan.parents.slice();
  parents[plan.ids.indexOf(id)] = parent === null ? -1 : plan.ids.indexOf(parent);
  return { ...plan, parents };
}

/**
 * Refuses a move after which something would depend on itself, also by dependencies of the items above.
 * @param field the name of the parent in the request.
 * @throws EstateError `validation_failed`.
 */
export async function requireNoCycle(
  sql: Transaction,
  cardId: string,
  move: { id: string; parent: string | null; field: string },
): Promise<void> {
  const depends = await sql('ppm_dependencies').where({ card_id: cardId }).first('id');
  if (!depends) return;
  if (hasCycle(withParent(await loadPlan(sql, cardId), move.id, move.parent))) {
    throw invalidField(move.field, 'dependency_cycle', 'would make something depend on itself');
  }
}

/** An item with its place in the work breakdown. */
interface Placed {
  id: string;
  parent_id: string | null;
}

/** The number of levels of an item and those below it; 1 for a single item. */
function heightOf(id: string, items: readonly Placed[]): number {
  let height = 0;
  for (let level = new Set([id]); level.size > 0 && height <= MAX_WBS_DEPTH; height += 1) {
    level = new Set(items.flatMap((item) => (level.has(item.parent_id ?? '') ? item.id : [])));
  }
  return height;
}

/**
 * Why an item cannot be below another; undefined where it can.
 * @param id null for a new item. @param parent_id null for a root.
 */
export function placeError(
  items: readonly Placed[],
  id: string | null,
  parent_id: string | null,
): { code: string; message: string } | undefined {
  const byId = new Map(items.map((item) => [item.id, item]));
  if (parent_id !== null && !byId.has(parent_id)) {
    return { code: 'unknown_value', message: 'is no WBS item of this initiative' };
  }
  let depth = 0;
  for (let at = parent_id; at !== null; at = byId.get(at)?.parent_id ?? null) {
    if (at === id) return { code: 'parent_cycle', message: 'lies below the item itself' };
    depth += 1;
    if (depth > MAX_WBS_DEPTH) break;
  }
  if (depth + (id === null ? 1 : heightOf(id, items)) > MAX_WBS_DEPTH) {
    return { code: 'too_deep', message: `would reach below level ${MAX_WBS_DEPTH}` };
  }
  return undefined;
}

/** @throws EstateError `validation_failed` naming `parent_id`. */
export async function requirePlace(
  sql: Transaction,
  cardId: string,
  id: string | null,
  parentId: string | null,
): Promise<void> {
  const items: Placed[] = await sql('ppm_wbs').where({ card_id: cardId }).select('id', 'parent_id');
  const error = placeError(items, id, parentId);
  if (error) throw invalidField('parent_id', error.code, error.message);
}

/** The completion of an initiative, 0 to 100 with one decimal. @throws EstateError `forbidden`, `not_found`. */
export async function readCompletion(ctx: Ctx, initiativeId: string): Promise<{ completion: number }> {
  requirePpmReader(ctx);
  const { id } = await requireInitiative(ctx.db, ctx, initiativeId);
  const { items, tasks } = await loadWork(ctx.db, id);
  return { completion: completionOf(items, tasks) };
}

/** Formats days as JSON, each once, because a plan contains few days many times. */
function dayTexts(): (day: number) => string {
  const texts = new Map<number, string>();
  return (day) => {
    let text = texts.get(day);
    if (text === undefined) {
      text = JSON.stringify(dayText(day));
      texts.set(day, text);
    }
    return text;
  };
}

/** The schedule of an initiative's plan. @throws EstateError `forbidden`, `not_found`. */
export async function readCriticalPath(ctx: Ctx, initiativeId: string): Promise<JsonText> {
  requirePpmReader(ctx);
  const { id } = await requireInitiative(ctx.db, ctx, initiativeId);
  const plan = await loadPlan(ctx.db, id);
  const schedule = scheduleOf(plan, dayNumber(new Date().toISOString().slice(0, 10)));
  // commands refuse cycles
  if (!schedule) throw new EstateError('conflict', 'Parts of the plan depend on each other.');
  return criticalPathText(id, plan, schedule);
}

/** Written as text directly: objects for thousands of parts would be discarded at once. */
function criticalPathText(id: string, plan: TitledPlan, schedule: Schedule): JsonText {
  const { start, end, order, slack } = schedule;
  const day = dayTexts();
  const critical: string[] = [];
  const items: string[] = [];
  for (const part of order) {
    const first = schedule.earliestStart[part]!;
    const last = schedule.earliestEnd[part]!;
    const parent = plan.parents[part]!;
    const named = `{"kind":"${partKind(plan, part)}","id":"${plan.ids[part]!}","title":${JSON.stringify(plan.titles[part]!)}`;
    const isCritical = slack[part] === 0;
    if (isCritical && !schedule.isSummary[part]) critical.push(`${named}}`);
    items.push(
      `${named},"wbs_id":${parent < 0 ? 'null' : `"${plan.ids[parent]!}"`},"duration":${last - first},` +
        `"earliest_start":${day(first)},"earliest_end":${day(last)},` +
        `"latest_start":${day(schedule.latestStart[part]!)},"latest_end":${day(schedule.latestEnd[part]!)},` +
        `"slack":${slack[part]!},"critical":${isCritical}}`,
    );
  }
  return `{"initiative_id":"${id}","start_date":${day(start)},"end_date":${day(end)},"duration":${end - start},"critical_path":[${critical.join(',')}],"items":[${items.join(',')}]}`;
}
