import Type from 'typebox';
import { invalidField } from '../../../platform/errors.ts';
import { closeSystemTodos, openSystemTodo } from '../../collaboration/todos/todos.system.ts';
import { TASK_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import { findRows } from '../../kernel/resources/rows.ts';
import { Choice, Uuid } from '../../kernel/shapes.ts';
import { deleteDependencies } from './dependencies.ts';
import { requireNoCycle } from './plan.place.ts';
import { checkPlanned } from './ppm.checks.ts';
import { deleteLocked } from './ppm.commands.ts';
import { nameOf, type PpmChange, type PpmKind } from './ppm.kinds.ts';
import { Task, TaskComment, type TaskRow } from './ppm.model.ts';
import { MAX_TASKS, taskPriorities, taskStatuses } from './ppm.types.ts';
import { taskComments } from './task-comments.ts';

const priorities = taskPriorities.map((priority) => `'${priority}'`).join(', ');

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
    status: { sql: 't.status', type: 'text', filled: true },
    priority: { sql: `array_position(array[${priorities}], t.priority)`, type: 'bigint', filled: true },
  },
  defaultSort: 'sort_order',
  search: `fold(t.title || ' ' || coalesce(t.description, ''))`,
  filters: {
    status: Type.Optional(Choice(taskStatuses, 'Only those in this state')),
    assignee_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those of this user' })),
    wbs_id: Type.Optional(Type.String({ ...Uuid, description: 'Only those right below this WBS item' })),
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
    const { work, ctx, initiative } = write;
    await deleteDependencies(write, [row.id]);
    const comments = await findRows(work.sql, TaskComment, (query) =>
      query.where({ task_id: row.id }).orderBy('id').forUpdate(),
    );
    for (const comment of comments) await deleteLocked(work, ctx, taskComments, initiative, comment);
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
