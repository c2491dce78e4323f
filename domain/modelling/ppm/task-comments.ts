import { EstateError, notFound } from '../../../platform/errors.ts';
import { command } from '../../kernel/command.ts';
import type { Ctx } from '../../kernel/context.ts';
import { lockRow } from '../../kernel/events/stored-rows.ts';
import type { JsonText, ListParams } from '../../kernel/lists/lists.types.ts';
import { holdInitiative, requirePpmReader, requirePpmWriter } from './initiatives.ts';
import { blankFaults, refuse } from './ppm.checks.ts';
import { insertPpm, listPpm } from './ppm.commands.ts';
import { nameOf, type PpmKind } from './ppm.kinds.ts';
import { MAX_TASK_COMMENTS } from './ppm.types.ts';

/** What people say about a task; each is changed and deleted by its author alone. */
export const taskComments: PpmKind = {
  entity: 'ppm_task_comment',
  what: 'task comment',
  table: 'ppm_task_comments',
  told: ['task_id'],
  asked: ({ task_id }) => [{ sql: 't.task_id = ?::uuid', bindings: [task_id] }],
  list: () => ({
    name: 'ppm-task-comments',
    from: 'ppm_task_comments t',
    id: 't.id',
    idType: 'uuid',
    sorts: { created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true } },
    defaultSort: 'created_at',
    defaultDir: 'asc',
    search: 'fold(t.content)',
    members: {
      id: 't.id',
      task_id: 't.task_id',
      user_id: 't.user_id',
      user_display_name: `coalesce(${nameOf('user_id')}, '')`,
      content: 't.content',
      created_at: 'utc(t.created_at)',
      updated_at: 'utc(t.updated_at)',
    },
  }),
  guard(row, ctx) {
    if (row.user_id === ctx.caller.userId) return;
    throw new EstateError('forbidden', 'A comment is changed and deleted by its author alone.');
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
    const initiative = await holdInitiative(work, ctx, known.card_id, false).catch((error: unknown) => {
      throw asTask(error, taskId);
    });
    const task = await lockRow(work.sql, 'ppm_tasks', { id: taskId.toLowerCase() });
    if (task?.card_id !== initiative.id) throw notFound('task', taskId);
    const { rows } = await work.sql.raw(
      'select count(*)::int as n from ppm_task_comments where task_id = ?',
      [task.id as string],
    );
    if (rows[0].n >= MAX_TASK_COMMENTS) {
      throw new EstateError('limit_reached', `A task holds at most ${MAX_TASK_COMMENTS} comments.`);
    }
    const values = { ...input, task_id: task.id, user_id: ctx.caller.userId };
    return await insertPpm(work, ctx, taskComments, initiative, values);
  });
}

/** An initiative that is not found is no task either. */
const asTask = (error: unknown, id: string): unknown =>
  error instanceof EstateError && error.code === 'not_found' ? notFound('task', id) : error;
