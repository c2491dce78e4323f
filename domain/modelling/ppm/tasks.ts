import { invalidField } from '../../../platform/errors.ts';
import { closeSystemTodos, openSystemTodo } from '../../collaboration/todos/todos.system.ts';
import { TASK_TOPIC } from '../../collaboration/todos/todos.topics.ts';
import { releaseDependencies } from './dependencies.ts';
import { checkPlanned } from './plan.check.ts';
import { requireNoCircle } from './plan.place.ts';
import { removePpm } from './ppm.commands.ts';
import { nameOf, type PpmChange, type PpmKind } from './ppm.kinds.ts';
import { MAX_TASKS, type PpmRow, type TaskRow } from './ppm.types.ts';
import { taskComments } from './task-comments.ts';

/** Who does what until when. */
export const tasks: PpmKind = {
  entity: 'ppm_task',
  what: 'task',
  table: 'ppm_tasks',
  most: MAX_TASKS,
  alone: true,
  told: ['title', 'status', 'assignee_id', 'due_date'],
  defaultSort: 'sort_order',
  asked({ status, assignee_id, wbs_id }) {
    const where = [];
    if (status !== undefined) where.push({ sql: 't.status = ?', bindings: [status] });
    if (assignee_id !== undefined) where.push({ sql: 't.assignee_id = ?::uuid', bindings: [assignee_id] });
    if (wbs_id !== undefined) where.push({ sql: 't.wbs_id = ?::uuid', bindings: [wbs_id] });
    return where;
  },
  list: () => ({
    name: 'ppm-tasks',
    from: 'ppm_tasks t',
    id: 't.id',
    idType: 'uuid',
    sorts: {
      sort_order: { sql: 't.sort_order', type: 'bigint', filled: true },
      created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
      due_date: { sql: 't.due_date::text', type: 'text' },
      title: { sql: 'fold(t.title)', type: 'text', filled: true },
      status: { sql: 't.status', type: 'text', filled: true },
      priority: {
        sql: `array_position(array['critical', 'high', 'medium', 'low'], t.priority)`,
        type: 'bigint',
        filled: true,
      },
    },
    defaultSort: 'sort_order',
    defaultDir: 'asc',
    search: `fold(t.title || ' ' || coalesce(t.description, ''))`,
    members: {
      id: 't.id',
      initiative_id: 't.card_id',
      title: 't.title',
      description: 't.description',
      status: 't.status',
      priority: 't.priority',
      assignee_id: 't.assignee_id',
      assignee_name: nameOf('assignee_id'),
      start_date: 't.start_date',
      due_date: 't.due_date',
      sort_order: 't.sort_order',
      tags: 't.tags',
      wbs_id: 't.wbs_id',
      comment_count: '(select count(*)::int from ppm_task_comments m where m.task_id = t.id)',
      created_at: 'utc(t.created_at)',
      updated_at: 'utc(t.updated_at)',
    },
  }),
  async check(values, { work, initiative, before }) {
    const item = await checkPlanned(values, { work, before }, { end: 'due_date', above: 'wbs_id' });
    if (item === undefined) return;
    if (item && !(await work.sql('ppm_wbs').where({ id: item, card_id: initiative.id }).first('id'))) {
      throw invalidField('wbs_id', 'unknown_value', 'is no WBS item of this initiative');
    }
    if (!before) return;
    await requireNoCircle(work.sql, initiative.id, { id: before.id, above: item, field: 'wbs_id' });
  },
  async release(row, write) {
    const { work, ctx, initiative } = write;
    await releaseDependencies(write, [row.id]);
    const { rows } = await work.sql.raw(
      'select to_jsonb(t) as row from ppm_task_comments t where task_id = ?::uuid order by id for update',
      [row.id],
    );
    for (const { row: comment } of rows as { row: PpmRow }[]) {
      await removePpm(work, ctx, taskComments, initiative, comment);
    }
  },
  follow: keepTodo,
};

/** Keeps the assignee's to-do as the task is: open while it is to be done, done with it, withdrawn from who gives it up. */
async function keepTodo({ work, initiative, before, after }: PpmChange): Promise<void> {
  const [was, is] = [before as TaskRow | null, after as TaskRow | null];
  const subject = { topic: TASK_TOPIC, subjectId: (is ?? was)!.id };
  if (was?.assignee_id && was.assignee_id !== is?.assignee_id) {
    await closeSystemTodos(work, { ...subject, assignedTo: was.assignee_id }, 'withdrawn');
  }
  if (!is?.assignee_id) return;
  if (is.status === 'done') {
    if (was && was.status !== 'done') {
      await closeSystemTodos(work, { ...subject, assignedTo: is.assignee_id });
    }
    return;
  }
  await openSystemTodo(work, {
    ...subject,
    assignedTo: is.assignee_id,
    description: is.title,
    card: initiative,
    dueDate: is.due_date,
    link: null,
  });
}
