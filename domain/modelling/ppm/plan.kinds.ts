import Type, { type Static } from 'typebox';
import { embed, fragment, query } from '../../../platform/database.ts';
import { EstateError, type FieldError, invalidField, notFound } from '../../../platform/errors.ts';
import { asPartOf } from '../../collaboration/cards.access.ts';
import { closeSystemTodos, openSystemTodo } from '../../collaboration/todos/todos.system.ts';
import { TASK_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { columnSorts } from '../../kernel/lists/lists.run.ts';
import type { JsonText, ListParams } from '../../kernel/lists/lists.types.ts';
import { findRows, lockRow } from '../../kernel/resources/rows.ts';
import { Choice, object, Uuid } from '../../kernel/shapes.ts';
import { loadPlan, loadWork, requireNoCycle, requirePlace } from './plan.queries.ts';
import { computeProgress, hasCycle, oneDecimal, partKind } from './plan.rules.ts';
import { blankErrors, checkPlanned, refuse } from './ppm.checks.ts';
import {
  countRows,
  deleteLocked,
  insertPpm,
  listPpm,
  lockInitiative,
  nameOf,
  type PpmChange,
  type PpmKind,
  type PpmScope,
  type PpmWrite,
  recordChange,
  requirePpmReader,
  requirePpmWriter,
} from './ppm.kinds.ts';
import {
  Dependency,
  type DependencyRow,
  MAX_DEPENDENCIES,
  MAX_TASK_COMMENTS,
  MAX_TASKS,
  MAX_WBS,
  type PlanKind,
  planKinds,
  Task,
  TaskComment,
  type TaskCommentRow,
  type TaskRow,
  taskStatuses,
  WbsItem,
  type WbsRow,
} from './ppm.model.ts';

export const DependencyBody = object({
  pred_kind: Choice(planKinds),
  pred_id: Type.String({ ...Uuid, description: 'The predecessor, which must be finished first' }),
  succ_kind: Choice(planKinds),
  succ_id: Type.String({ ...Uuid, description: 'The successor, which starts after it' }),
  kind: Type.Literal('FS', { default: 'FS' }),
});
export type DependencyInput = Static<typeof DependencyBody>;

const kindOf = (end: 'pred' | 'succ') => `case when t.${end}_task_id is null then 'wbs' else 'task' end`;
const idOf = (end: 'pred' | 'succ') => `coalesce(t.${end}_task_id, t.${end}_wbs_id)`;

/** What must be finished before something else starts. */
export const dependencies: PpmKind<DependencyRow> = {
  model: Dependency,
  entity: 'ppm_dependency',
  what: 'task dependency',
  limit: MAX_DEPENDENCIES,
  exclusive: true,
  hidden: ['pred_task_id', 'pred_wbs_id', 'succ_task_id', 'succ_wbs_id', 'updated_at'],
  members: () => ({
    pred_kind: kindOf('pred'),
    pred_id: idOf('pred'),
    succ_kind: kindOf('succ'),
    succ_id: idOf('succ'),
  }),
};

/**
 * Adds a dependency between tasks and items of one initiative. The initiative is locked exclusively, so that no two
 * concurrent requests close a cycle together.
 * @throws EstateError `forbidden`, `not_found`, `validation_failed`, `duplicate_dependency`, `limit_reached`.
 */
export async function createDependency(
  ctx: Ctx,
  initiativeId: string,
  input: DependencyInput,
): Promise<JsonText> {
  requirePpmWriter(ctx);
  return await command(ctx, async (work) => {
    const initiative = await lockInitiative(work, ctx, initiativeId, true);
    const plan = await loadPlan(work.sql, initiative.id);
    const pred = input.pred_id.toLowerCase();
    const succ = input.succ_id.toLowerCase();
    const errors: FieldError[] = [];
    const partOf = (field: string, kind: PlanKind, id: string): number => {
      const part = plan.ids.indexOf(id);
      if (part >= 0 && partKind(plan, part) === kind) return part;
      const what = kind === 'task' ? 'task' : 'WBS item';
      errors.push({ field, code: 'unknown_value', message: `is no ${what} of this initiative` });
      return -1;
    };
    const from = partOf('pred_id', input.pred_kind, pred);
    const to = partOf('succ_id', input.succ_kind, succ);
    if (pred === succ) errors.push({ field: 'succ_id', code: 'same', message: 'cannot follow itself' });
    refuse(errors);
    if (plan.preds.some((other, n) => other === from && plan.succs[n] === to)) {
      throw new EstateError('duplicate_dependency', 'This dependency exists already.');
    }
    const preds = Int32Array.from([...plan.preds, from]);
    if (hasCycle({ ...plan, preds, succs: Int32Array.from([...plan.succs, to]) })) {
      throw invalidField('succ_id', 'dependency_cycle', 'would make something depend on itself');
    }
    return await insertPpm({ work, ctx, initiative }, dependencies, {
      [`pred_${input.pred_kind}_id`]: pred,
      [`succ_${input.succ_kind}_id`]: succ,
      kind: input.kind,
    });
  });
}

/** Deletes the dependencies of tasks and items that are about to be deleted. */
async function deleteDependencies(scope: PpmScope, ids: readonly string[]): Promise<void> {
  const deleted = await query(scope.work.sql).column<DependencyRow>`with deleted as (
       delete from ppm_dependencies t where t.card_id = ${scope.initiative.id}::uuid
         and (${embed(idOf('pred'))} = any(${ids}::uuid[]) or ${embed(idOf('succ'))} = any(${ids}::uuid[]))
       returning t.id, to_jsonb(t) as row
     ) select row from deleted order by id`;
  for (const row of deleted) await recordChange(scope, dependencies, row, null);
}

/** Comments on tasks; only their authors change and delete them. */
export const taskComments: PpmKind<TaskCommentRow> = {
  model: TaskComment,
  entity: 'ppm_task_comment',
  what: 'task comment',
  eventMembers: ['task_id'],
  search: 'fold(t.content)',
  hidden: ['card_id'],
  members: () => ({ user_display_name: `coalesce(${nameOf('user_id')}, '')` }),
  authorize(row, ctx) {
    if (row.user_id === ctx.caller.userId) return;
    throw new EstateError('forbidden', 'Only its author may change or delete a comment.');
  },
  check(values) {
    refuse(blankErrors(values, ['content']));
  },
};

/** The comments on a task, oldest first. @throws EstateError `forbidden`, `not_found`. */
export async function listTaskComments(ctx: Ctx, taskId: string, params: ListParams): Promise<JsonText> {
  requirePpmReader(ctx);
  const task = await ctx.db('ppm_tasks').where({ id: taskId }).first('id', 'card_id');
  if (!task) throw notFound('task', taskId);
  const comments = listPpm(ctx, taskComments, task.card_id, params, [fragment`t.task_id = ${task.id}`]);
  return await asPartOf('task', taskId, comments);
}

/** Comments on a task. @throws EstateError `forbidden`, `not_found`, `validation_failed`, `limit_reached`. */
export async function createTaskComment(
  ctx: Ctx,
  taskId: string,
  input: { content: string },
): Promise<JsonText> {
  requirePpmWriter(ctx);
  return await command(ctx, async (work) => {
    const known = await work.sql('ppm_tasks').where({ id: taskId }).first('card_id');
    if (!known) throw notFound('task', taskId);
    const initiative = await asPartOf('task', taskId, lockInitiative(work, ctx, known.card_id, false));
    const task = await lockRow(work.sql, Task, { id: taskId.toLowerCase() });
    if (task?.card_id !== initiative.id) throw notFound('task', taskId);
    if ((await countRows(work.sql, TaskComment, { task_id: task.id })) >= MAX_TASK_COMMENTS) {
      throw new EstateError('limit_reached', `A task can have at most ${MAX_TASK_COMMENTS} comments.`);
    }
    const values = { ...input, task_id: task.id, user_id: ctx.caller.userId };
    return await insertPpm({ work, ctx, initiative }, taskComments, values);
  });
}

/** Who does what until when. */
export const tasks: PpmKind<TaskRow> = {
  model: Task,
  entity: 'ppm_task',
  what: 'task',
  limit: MAX_TASKS,
  exclusive: true,
  eventMembers: ['title', 'status', 'assignee_id', 'due_date'],
  sorts: {
    sort_order: { sql: 't.sort_order', type: 'bigint', filled: true },
    due_date: { sql: 't.due_date::text', type: 'text' },
    title: { sql: 'fold(t.title)', type: 'text', filled: true },
    ...columnSorts('t', Task, 'status', 'priority'),
  },
  defaultSort: 'sort_order',
  search: `fold(t.title || ' ' || coalesce(t.description, ''))`,
  filters: {
    status: [Choice(taskStatuses, 'Only those in this state'), 't.status = ?'],
    assignee_id: [Type.String({ ...Uuid, description: 'Only those of this user' }), 't.assignee_id = ?'],
    wbs_id: [Type.String({ ...Uuid, description: 'Only those right below this WBS item' }), 't.wbs_id = ?'],
  },
  members: () => ({
    assignee_name: nameOf('assignee_id'),
    comment_count: '(select count(*)::int from ppm_task_comments m where m.task_id = t.id)',
  }),
  async check(values, { work, initiative, before }) {
    const item = await checkPlanned(work.sql, values, before, { end: 'due_date', parent: 'wbs_id' });
    if (item === undefined) return;
    if (item && !(await work.sql('ppm_wbs').where({ id: item, card_id: initiative.id }).first('id'))) {
      throw invalidField('wbs_id', 'unknown_value', 'is no WBS item of this initiative');
    }
    if (!before) return;
    await requireNoCycle(work.sql, initiative.id, { id: before.id, parent: item, field: 'wbs_id' });
  },
  async beforeDelete(row, write) {
    await deleteDependencies(write, [row.id]);
    const comments = await findRows(write.work.sql, TaskComment, (query) =>
      query.where({ task_id: row.id }).orderBy('id').forUpdate(),
    );
    for (const comment of comments) await deleteLocked(write, taskComments, comment);
  },
  afterWrite: updateTodo,
};

/** Opens the assignee's to-do with the task, completes it with the task, and withdraws it from a former assignee. */
async function updateTodo({ work, initiative, before, after }: PpmChange<TaskRow>): Promise<void> {
  const subject = { topic: TASK_TOPIC, subjectId: (after ?? before)!.id };
  if (before?.assignee_id && before.assignee_id !== after?.assignee_id) {
    await closeSystemTodos(work, { ...subject, assignedTo: before.assignee_id }, 'withdrawn');
  }
  if (!after?.assignee_id) return;
  if (after.status === 'done') {
    if (before && before.status !== 'done') {
      await closeSystemTodos(work, { ...subject, assignedTo: after.assignee_id });
    }
    return;
  }
  await openSystemTodo(work, {
    ...subject,
    assignedTo: after.assignee_id,
    description: after.title,
    card: initiative,
    dueDate: after.due_date,
    link: null,
  });
}

/** The work breakdown: a tree of items which contain tasks. */
export const wbsItems: PpmKind<WbsRow> = {
  model: WbsItem,
  entity: 'ppm_wbs',
  what: 'WBS item',
  limit: MAX_WBS,
  exclusive: true,
  eventMembers: ['title'],
  sorts: {
    sort_order: { sql: 't.sort_order', type: 'bigint', filled: true },
    title: { sql: 'fold(t.title)', type: 'text', filled: true },
    start_date: { sql: 't.start_date::text', type: 'text' },
  },
  defaultSort: 'sort_order',
  search: `fold(t.title || ' ' || coalesce(t.description, ''))`,
  async members(sql, _ctx, cardId) {
    const { items, tasks: ownTasks } = await loadWork(sql, cardId);
    const progress = [...computeProgress(items, ownTasks)].map(([id, found]) => [
      id,
      [oneDecimal(found.progress), found.tasks],
    ]);
    const bindings = [JSON.stringify(Object.fromEntries(progress))];
    return {
      assignee_name: nameOf('assignee_id'),
      progress: { sql: '?::jsonb -> t.id::text -> 0', bindings },
      task_count: { sql: '?::jsonb -> t.id::text -> 1', bindings },
    };
  },
  async check(values, { work, initiative, before }) {
    const parent = await checkPlanned(work.sql, values, before, { end: 'end_date', parent: 'parent_id' });
    if (parent === undefined) return;
    await requirePlace(work.sql, initiative.id, before?.id ?? null, parent);
    if (!before) return;
    await requireNoCycle(work.sql, initiative.id, { id: before.id, parent, field: 'parent_id' });
  },
  beforeDelete: deleteBelow,
};

/** Deletes the items below, and the dependencies of all of them; their tasks stay and belong to no item. */
async function deleteBelow({ id }: WbsRow, write: PpmWrite<WbsRow>): Promise<void> {
  const { sql } = write.work;
  const items = await query(sql).column<WbsRow>`with recursive below as (
       select id, 0 as depth from ppm_wbs where id = ${id}::uuid
       union all
       select w.id, b.depth + 1 from below b join ppm_wbs w on w.parent_id = b.id where b.depth < 100
     )
     select to_jsonb(w) as row from below b join ppm_wbs w on w.id = b.id order by b.depth desc, w.id`;
  const ids = items.map((row) => row.id);
  await deleteDependencies(write, ids);
  const freed = await query(sql).rows<{ before: TaskRow; after: TaskRow }>`update ppm_tasks t
    set wbs_id = null, updated_at = clock_timestamp() where t.wbs_id = any(${ids}::uuid[])
     returning to_jsonb(old) as before, to_jsonb(new) as after`;
  for (const { before, after } of freed) await recordChange(write, tasks, before, after);
  const { beforeDelete: _, ...single } = wbsItems;
  for (const row of items) {
    if (row.id !== id) await deleteLocked(write, single, row);
  }
}
