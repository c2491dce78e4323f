import Type from 'typebox';
import { riskFilters } from '../../domain/governance/risks/risks.list.ts';
import type { TaskDraft } from '../../domain/governance/risks/tasks.add.ts';
import {
  createTask,
  deleteTask,
  patchTask,
  type TaskPatch,
} from '../../domain/governance/risks/tasks.commands.ts';
import {
  exportTasks,
  listOccurrences,
  listRiskTasks,
  occurrenceSorts,
  taskSorts,
} from '../../domain/governance/risks/tasks.list.ts';
import { actOnOccurrence } from '../../domain/governance/risks/tasks.occurrences.ts';
import type { OccurrenceAct } from '../../domain/governance/risks/tasks.rules.ts';
import { closed, Uuid } from '../../domain/kernel/shapes.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/mitigation-tasks.ts';
import type { App } from '../types.ts';

const reading = { tag: 'Risks', module: 'grc', permission: 'risks.view' } as const;
const maintaining = { tag: 'Risks', module: 'grc', permission: 'risks.manage' } as const;
const TaskParams = Type.Object({ task_id: Uuid }, closed);
const RiskParams = Type.Object({ risk_id: Uuid }, closed);
const task = Type.Ref('MitigationTask#');
const listed = listAnswer(Type.Ref('MitigationTaskItem#'));

/** What is done about risks. */
export function registerMitigationTaskRoutes(app: App): void {
  for (const schema of [
    schemas.OccurrenceSchema,
    schemas.OccurrenceItemSchema,
    schemas.TaskSchema,
    schemas.TaskItemSchema,
  ]) {
    app.addSchema(schema);
  }

  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/risks/mitigation-tasks/export',
    id: 'exportMitigationTasks',
    summary: 'List the mitigation tasks of all risks',
    description: 'Of the risks that the filter lets through; `search` looks into the risks as well.',
    query: listQuery(taskSorts, 'created_at', riskFilters),
    answers: { 200: { description: 'Tasks, oldest first', schema: listed } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await exportTasks(ctx, query)),
  });

  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/risks/:risk_id/mitigation-tasks',
    id: 'listMitigationTasks',
    summary: 'List the mitigation tasks of a risk',
    params: RiskParams,
    query: listQuery(taskSorts, 'created_at', {}),
    answers: { 200: { description: 'Tasks, oldest first', schema: listed } },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listRiskTasks(ctx, params.risk_id, query)),
  });

  operation(app, {
    ...maintaining,
    method: 'POST',
    url: '/api/v1/risks/:risk_id/mitigation-tasks',
    id: 'createMitigationTask',
    summary: 'Add a mitigation task to a risk',
    description:
      'With its first occurrence: open at once where it is due within the lead time or at no day, else scheduled until then.',
    params: RiskParams,
    body: schemas.TaskCreateBody,
    bodyExample: { title: 'Test the restore', due_date: '2031-01-31', recurrence_unit: 'months' },
    answers: { 201: { description: 'The task', schema: task, headers: ['ETag'] } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply.code(201), await createTask(ctx, params.risk_id, body as TaskDraft)),
  });

  operation(app, {
    ...maintaining,
    method: 'PATCH',
    url: '/api/v1/mitigation-tasks/:task_id',
    id: 'patchMitigationTask',
    summary: 'Change a mitigation task',
    description:
      'Owner and due date become those of the occurrence that is waited for. An active task that recurs gets its next occurrence where none is waited for.',
    params: TaskParams,
    body: schemas.TaskPatchBody,
    bodyExample: { recurrence_unit: 'years', is_active: true },
    headers: ['If-Match'],
    answers: { 200: { description: 'The task', schema: task } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchTask(ctx, params.task_id, body as TaskPatch)),
  });

  operation(app, {
    ...maintaining,
    method: 'DELETE',
    url: '/api/v1/mitigation-tasks/:task_id',
    id: 'deleteMitigationTask',
    summary: 'Delete a mitigation task',
    description: 'With its occurrences.',
    params: TaskParams,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      await deleteTask(ctx, params.task_id);
      return reply.code(204).send();
    },
  });

  registerOccurrenceRoutes(app);
}

/** Occurrences of mitigation tasks. */
function registerOccurrenceRoutes(app: App): void {
  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/mitigation-tasks/:task_id/occurrences',
    id: 'listMitigationTaskOccurrences',
    summary: 'List the occurrences of a mitigation task',
    params: TaskParams,
    query: listQuery(occurrenceSorts, 'sequence', {}),
    answers: {
      200: {
        description: 'Occurrences, the first one first',
        schema: listAnswer(Type.Ref('MitigationTaskOccurrenceItem#')),
      },
    },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listOccurrences(ctx, params.task_id, query)),
  });

  const ending = {
    ...reading,
    permissionNote: 'risks.manage, or the scope risks.manage for tasks that are assigned to the caller',
    body: schemas.EndBody,
    bodyExample: { notes: 'Restored in two hours.' },
  } as const;
  acting(app, 'complete', {
    ...ending,
    id: 'completeMitigationTaskOccurrence',
    summary: 'Complete an open occurrence',
    description: 'The next one of an active task that recurs is added.',
  });
  acting(app, 'skip', {
    ...ending,
    id: 'skipMitigationTaskOccurrence',
    summary: 'Skip an open occurrence',
    description: 'The next one of an active task that recurs is added.',
  });
  acting(app, 'promote', {
    ...maintaining,
    id: 'promoteMitigationTaskOccurrence',
    summary: 'Open a scheduled occurrence before its time',
    description: 'Its owner is asked at once.',
  });
}

type Declared = Pick<
  Parameters<typeof operation>[1],
  | 'tag'
  | 'module'
  | 'permission'
  | 'permissionNote'
  | 'body'
  | 'bodyExample'
  | 'id'
  | 'summary'
  | 'description'
>;

/** Declares what may be done with an occurrence: the answer is its task. */
function acting(app: App, act: OccurrenceAct, declared: Declared): void {
  operation(app, {
    ...declared,
    method: 'POST',
    url: `/api/v1/mitigation-tasks/:task_id/occurrences/:occurrence_id/${act}`,
    params: Type.Object({ task_id: Uuid, occurrence_id: Uuid }, closed),
    headers: ['If-Match'],
    answers: { 200: { description: 'The task', schema: task, headers: ['ETag'] } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) => {
      const { notes = null } = (body ?? {}) as { notes?: string | null };
      return sendResource(
        reply,
        await actOnOccurrence(ctx, params.task_id, params.occurrence_id, act, notes),
      );
    },
  });
}
