import { riskFilters } from '../../../domain/governance/risks/risks.list.ts';
import {
  actOnOccurrence,
  createTask,
  deleteTask,
  patchTask,
  type TaskPatch,
} from '../../../domain/governance/risks/tasks.commands.ts';
import {
  exportTasks,
  listOccurrences,
  listRiskTasks,
  occurrenceSorts,
  taskSorts,
} from '../../../domain/governance/risks/tasks.list.ts';
import type { TaskDraft } from '../../../domain/governance/risks/tasks.store.ts';
import type { RouteSpec } from '../../operation.spec.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { listAnswer, listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/mitigation-tasks.ts';
import type { App } from '../../types.ts';

const task = schemas.TaskSchema;
const listed = listAnswer(schemas.TaskItemSchema);

/** Mitigation tasks of risks. */
export function registerMitigationTaskRoutes(app: App): void {
  const reading = routesOf(app, { tag: 'Risks', module: 'grc', permission: 'risks.view' });
  const maintaining = routesOf(app, { tag: 'Risks', module: 'grc', permission: 'risks.manage' });

  reading.get('/api/v1/risks/mitigation-tasks/export', {
    id: 'exportMitigationTasks',
    summary: 'List the mitigation tasks of all risks',
    description: 'Of the risks that match the filter; `search` searches the risks.',
    query: listQuery(taskSorts, 'created_at', riskFilters),
    answers: ok('Tasks, oldest first', listed),
    handler: ({ ctx, query }) => exportTasks(ctx, query),
  });

  reading.get('/api/v1/risks/:risk_id/mitigation-tasks', {
    id: 'listMitigationTasks',
    summary: 'List the mitigation tasks of a risk',
    query: listQuery(taskSorts, 'created_at', {}),
    answers: ok('Tasks, oldest first', listed),
    handler: ({ ctx, params, query }) => listRiskTasks(ctx, params.risk_id, query),
  });

  maintaining.post('/api/v1/risks/:risk_id/mitigation-tasks', {
    id: 'createMitigationTask',
    summary: 'Add a mitigation task to a risk',
    description:
      'With its first occurrence, which is open if it is due within the lead time or has no due date, and scheduled otherwise.',
    body: schemas.TaskCreateBody,

    answers: created('The task', task),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => createTask(ctx, params.risk_id, body as TaskDraft),
  });

  maintaining.patch('/api/v1/mitigation-tasks/:task_id', {
    id: 'patchMitigationTask',
    summary: 'Change a mitigation task',
    description:
      'Owner and due date also apply to the scheduled or open occurrence. An active recurring task without one gets its next occurrence.',
    body: schemas.TaskPatchBody,

    headers: ['If-Match'],
    answers: ok('The task', task),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchTask(ctx, params.task_id, body as TaskPatch),
  });

  maintaining.delete('/api/v1/mitigation-tasks/:task_id', {
    id: 'deleteMitigationTask',
    summary: 'Delete a mitigation task',
    description: 'With its occurrences.',
    headers: ['If-Match'],
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteTask(ctx, params.task_id),
  });

  reading.get('/api/v1/mitigation-tasks/:task_id/occurrences', {
    id: 'listMitigationTaskOccurrences',
    summary: 'List the occurrences of a mitigation task',
    query: listQuery(occurrenceSorts, 'sequence', {}),
    answers: page('Occurrences, the first one first', schemas.OccurrenceItemSchema),
    handler: ({ ctx, params, query }) => listOccurrences(ctx, params.task_id, query),
  });

  const changed = {
    headers: ['If-Match'],
    answers: ok('The task', task, 'ETag'),
    errors: ['wrong_state'],
  } satisfies Partial<RouteSpec>;
  for (const [act, verb] of [
    ['complete', 'Complete'],
    ['skip', 'Skip'],
  ] as const) {
    reading.post(`/api/v1/mitigation-tasks/:task_id/occurrences/:occurrence_id/${act}`, {
      ...changed,
      id: `${act}MitigationTaskOccurrence`,
      summary: `${verb} an open occurrence`,
      description: 'The next one of an active task that recurs is added.',
      permissionNote: 'risks.manage, or the scope risks.manage for tasks that are assigned to the caller',
      body: schemas.EndBody,
      bodyExample: { notes: 'Restored in two hours.' },
      handler: ({ ctx, params, body }) =>
        actOnOccurrence(ctx, params.task_id, params.occurrence_id, act, body?.notes ?? null),
    });
  }

  maintaining.post('/api/v1/mitigation-tasks/:task_id/occurrences/:occurrence_id/promote', {
    ...changed,
    id: 'promoteMitigationTaskOccurrence',
    summary: 'Open a scheduled occurrence early',
    description: 'Its owner gets a to-do.',
    handler: ({ ctx, params }) => actOnOccurrence(ctx, params.task_id, params.occurrence_id, 'promote', null),
  });
}
