import { EstateError, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import type { JsonText, ListParams } from '../../kernel/lists/lists.types.ts';
import { lockRow } from '../../kernel/resources/rows.ts';
import { lockInitiative, requirePpmReader, requirePpmWriter } from './initiatives.ts';
import { blankFaults, refuse } from './ppm.checks.ts';
import { insertPpm, listPpm } from './ppm.commands.ts';
import { countRows, nameOf, type PpmKind } from './ppm.kinds.ts';
import { Task, TaskComment, type TaskCommentRow } from './ppm.model.ts';
import { MAX_TASK_COMMENTS } from './ppm.types.ts';

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
    refuse(blankFaults(values, ['content']));
  },
};

/** The comments on a task, oldest first. @throws EstateError `forbidden`, `not_found`. */
export async function listTaskComments(ctx: Ctx, taskId: string, params: ListParams): Promise<JsonText> {
  requirePpmReader(ctx);
  const task = await ctx.db('ppm_tasks').where({ id: taskId }).first('id', 'card_id');
  if (!task) throw notFound('task', taskId);
  return await listPpm(ctx, taskComments, task.card_id, params, { task_id: task.id }).catch(
    (error: unknown) => {
      throw asTask(error, taskId);
    },
  );
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
    const initiative = await lockInitiative(work, ctx, known.card_id, false).catch((error: unknown) => {
      throw asTask(error, taskId);
    });
    const task = await lockRow(work.sql, Task, { id: taskId.toLowerCase() });
    if (task?.card_id !== initiative.id) throw notFound('task', taskId);
    if ((await countRows(work.sql, TaskComment, { task_id: task.id })) >= MAX_TASK_COMMENTS) {
      throw new EstateError('limit_reached', `A task can have at most ${MAX_TASK_COMMENTS} comments.`);
    }
    const values = { ...input, task_id: task.id, user_id: ctx.caller.userId };
    return await insertPpm(work, ctx, taskComments, initiative, values);
  });
}

/** A task whose initiative is not found is not found either. */
const asTask = (error: unknown, id: string): unknown =>
  error instanceof EstateError && error.code === 'not_found' ? notFound('task', id) : error;
