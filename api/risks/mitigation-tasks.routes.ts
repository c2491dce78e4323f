import { riskFilters } from '../../domain/governance/risks/risks.list.ts';
import type { OccurrenceAct } from '../../domain/governance/risks/risks.rules.ts';
import {
  actOnOccurrence,
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
import type { TaskDraft } from '../../domain/governance/risks/tasks.store.ts';
import { operation } from '../operation.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import * as schemas from '../schemas/mitigation-tasks.ts';
import type { App } from '../types.ts';

const reading = { tag: 'Risks', module: 'grc', permission: 'risks.view' } as const;
const maintaining = { tag: 'Risks', module: 'grc', permission: 'risks.manage' } as const;
const task = schemas.TaskSchema;
const listed = listAnswer(schemas.TaskItemSchema);

/** Mitigation tasks of risks. */
export function registerMitigationTaskRoutes(app: App): void {
  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/risks/mitigation-tasks/export',
    id: 'exportMitigationTasks',
    summary: 'List the mitigation tasks of all risks',
    description: 'Of the risks that match the filter; `search` searches the risks.',
    query: listQuery(taskSorts, 'created_at', riskFilters),
    answers: { 200: { description: 'Tasks, oldest first', schema: listed } },
    handler: ({ ctx, query }) => exportTasks(ctx, query),
  });

  operation(app, {
    ...reading,
    method: 'GET',
    url: '/api/v1/risks/:risk_id/mitigation-tasks',
    id: 'listMitigationTasks',
    summary: 'List the mitigation tasks of a risk',
    query: listQuery(taskSorts, 'created_at', {}),
    answers: { 200: { description: 'Tasks, oldest first', schema: listed } },
    handler: ({ ctx, params, query }) => listRiskTasks(ctx, params.risk_id, query),
  });

  operation(app, {
    ...maintaining,
    method: 'POST',
    url: '/api/v1/risks/:risk_id/mitigation-tasks',
    id: 'createMitigationTask',
    summary: 'Add a mitigation task to a risk',
    description:
      'With its first occurrence, which is open if it is due within the lead time or has no due date, and scheduled otherwise.',
    body: schemas.TaskCreateBody,
    bodyExample: { title: 'Test the restore', due_date: '2031-01-31', recurrence_unit: 'months' },
    answers: { 201: { description: 'The task', schema: task, headers: ['ETag'] } },
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => createTask(ctx, params.risk_id, body as TaskDraft),
  });

  operation(app, {
    ...maintaining,
    method: 'PATCH',
    url: '/api/v1/mitigation-tasks/:task_id',
    id: 'patchMitigationTask',
    summary: 'Change a mitigation task',
    description:
      'Owner and due date also apply to the scheduled or open occurrence. An active recurring task without one gets its next occurrence.',
    body: schemas.TaskPatchBody,
    bodyExample: { recurrence_unit: 'years', is_active: true },
    headers: ['If-Match'],
    answers: { 200: { description: 'The task', schema: task } },
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchTask(ctx, params.task_id, body as TaskPatch),
  });

  operation(app, {
    ...maintaining,
    method: 'DELETE',
    url: '/api/v1/mitigation-tasks/:task_id',
    id: 'deleteMitigationTask',
    summary: 'Delete a mitigation task',
    description: 'With its occurrences.',
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteTask(ctx, params.task_id),
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
    query: listQuery(occurrenceSorts, 'sequence', {}),
    answers: {
      200: {
        description: 'Occurrences, the first one first',
        schema: listAnswer(schemas.OccurrenceItemSchema),
      },
    },
    handler: ({ ctx, params, query }) => listOccurrences(ctx, params.task_id, query),
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
    summary: 'Open a scheduled occurrence early',
    description: 'Its owner gets a to-do.',
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

/** Declares an action on an occurrence, which returns its task. */
function acting(app: App, act: OccurrenceAct, declared: Declared): void {
  operation(app, {
    ...declared,
    method: 'POST',
    url: `/api/v1/mitigation-tasks/:task_id/occurrences/:occurrence_id/${act}`,
    headers: ['If-Match'],
    answers: { 200: { description: 'The task', schema: task, headers: ['ETag'] } },
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => {
      const { notes = null } = (body ?? {}) as { notes?: string | null };
      return actOnOccurrence(ctx, params.task_id, params.occurrence_id, act, notes);
    },
  });
}
