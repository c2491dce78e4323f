import Type from 'typebox';
import { recurrenceUnits } from '../../../domain/collaboration/todos/todos.rules.ts';
import { MitigationTask, Occurrence, Text, Title } from '../../../domain/governance/risks/risks.model.ts';
import {
  actOnOccurrence,
  createTask,
  deleteTask,
  NEWEST_OCCURRENCES,
  occurrenceList,
  patchTask,
  type TaskPatch,
  taskExportList,
  taskList,
} from '../../../domain/governance/risks/tasks.commands.ts';
import type { TaskDraft } from '../../../domain/governance/risks/tasks.store.ts';
import {
  Choice,
  Clearable,
  component,
  DateOnly,
  Nullable,
  object,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { created, ok, page, type RouteSpec, routesOf } from '../../operation.ts';
import { bodiesOf, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';

const occurrence = {
  ...Occurrence.shown.columns,
  assigned_owner_name: Nullable(Type.String()),
  completed_by_name: Nullable(Type.String()),
  owner_at_completion_name: Nullable(Type.String()),
};
const OccurrenceSchema = component('MitigationTaskOccurrence', occurrence);

const taskMembers = {
  ...MitigationTask.columns,
  risk_reference: Type.String(),
  risk_title: Type.String(),
  owner_name: Nullable(Type.String()),
  occurrences: Type.Array(OccurrenceSchema, {
    description: `The newest ${NEWEST_OCCURRENCES}, oldest first`,
  }),
};
const TaskSchema = component('MitigationTask', taskMembers);

const bodies = bodiesOf(
  { title: Title },
  {
    description: Nullable(Text),
    owner_id: Nullable(Type.String({ ...Uuid, description: 'An active user' })),
    due_date: Nullable(Type.String({ ...DateOnly, description: 'The due date of the current occurrence' })),
    recurrence_unit: Choice(recurrenceUnits, 'Default `none`: it does not recur'),
    recurrence_interval: MitigationTask.columns.recurrence_interval,
    lead_time_days: Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 3650,
        description:
          'How many days before its due date an occurrence opens. By default 14 for a task that does not recur; otherwise 1, 2, 7 or 14 by its unit, at most half of the interval',
      }),
    ),
  },
);
const TaskPatchBody = object({
  ...bodies.patch.properties,
  is_active: Type.Optional(Type.Boolean()),
});
const EndBody = object({ notes: Clearable(Text) });

const listed = listResponse(TaskSchema);

/** Mitigation tasks of risks. */
export function registerMitigationTaskRoutes(app: App): void {
  const reading = routesOf(app, { tag: 'Risks', module: 'grc', permission: 'risks.view' });
  const maintaining = routesOf(app, { tag: 'Risks', module: 'grc', permission: 'risks.manage' });

  reading.list('exportMitigationTasks', '/api/v1/risks/mitigation-tasks/export', taskExportList, {
    summary: 'List the mitigation tasks of all risks',
    description: 'Of the risks that match the filter; `search` searches the risks.',
    responses: ok('Tasks, oldest first', listed),
  });

  reading.list('listMitigationTasks', '/api/v1/risks/:risk_id/mitigation-tasks', taskList, {
    summary: 'List the mitigation tasks of a risk',
    responses: ok('Tasks, oldest first', listed),
  });

  maintaining.post('createMitigationTask', '/api/v1/risks/:risk_id/mitigation-tasks', {
    summary: 'Add a mitigation task to a risk',
    description:
      'With its first occurrence, which is open if it is due within the lead time or has no due date, and scheduled otherwise.',
    body: bodies.create,
    responses: created('The task', TaskSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => createTask(ctx, params.risk_id, body as TaskDraft),
  });

  maintaining.patch('patchMitigationTask', '/api/v1/mitigation-tasks/:task_id', {
    summary: 'Change a mitigation task',
    description:
      'Owner and due date also apply to the scheduled or open occurrence. An active recurring task without one gets its next occurrence.',
    body: TaskPatchBody,
    responses: ok('The task', TaskSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchTask(ctx, params.task_id, body as TaskPatch),
  });

  maintaining.delete('deleteMitigationTask', '/api/v1/mitigation-tasks/:task_id', {
    summary: 'Delete a mitigation task',
    description: 'With its occurrences.',
    ifMatch: true,
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => deleteTask(ctx, params.task_id),
  });

  reading.list(
    'listMitigationTaskOccurrences',
    '/api/v1/mitigation-tasks/:task_id/occurrences',
    occurrenceList,
    {
      summary: 'List the occurrences of a mitigation task',
      responses: page('Occurrences, the first one first', OccurrenceSchema),
    },
  );

  const changed = {
    ifMatch: true,
    responses: ok('The task', TaskSchema, 'ETag'),
    errors: ['wrong_state'],
  } satisfies Partial<RouteSpec>;
  for (const [act, verb] of [
    ['complete', 'Complete'],
    ['skip', 'Skip'],
  ] as const) {
    reading.post(
      `${act}MitigationTaskOccurrence`,
      `/api/v1/mitigation-tasks/:task_id/occurrences/:occurrence_id/${act}`,
      {
        ...changed,
        summary: `${verb} an open occurrence`,
        description: 'The next one of an active task that recurs is added.',
        permissionNote: 'risks.manage, or the scope risks.manage for tasks that are assigned to the caller',
        body: EndBody,
        bodyExample: { notes: 'Restored in two hours.' },
        handler: ({ ctx, params, body }) =>
          actOnOccurrence(ctx, params.task_id, params.occurrence_id, act, body.notes ?? null),
      },
    );
  }

  maintaining.post(
    'promoteMitigationTaskOccurrence',
    '/api/v1/mitigation-tasks/:task_id/occurrences/:occurrence_id/promote',
    {
      ...changed,
      summary: 'Open a scheduled occurrence early',
      description: 'Its owner gets a to-do.',
      handler: ({ ctx, params }) =>
        actOnOccurrence(ctx, params.task_id, params.occurrence_id, 'promote', null),
    },
  );
}
