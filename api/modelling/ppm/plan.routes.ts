import {
  createDependency,
  createTaskComment,
  type DependencyInput,
  dependencies,
  listTaskComments,
  taskComments,
  tasks,
  wbsItems,
} from '../../../domain/modelling/ppm/plan.kinds.ts';
import { readCompletion, readCriticalPath } from '../../../domain/modelling/ppm/plan.queries.ts';
import { deletePpm, listPpm, patchPpm, ppmSorts } from '../../../domain/modelling/ppm/ppm.kinds.ts';
import { created, ok, page } from '../../operation.ts';
import { listQuery } from '../../schemas/common.ts';
import * as schemas from '../../schemas/ppm.ts';
import type { App } from '../../types.ts';
import { readingRoutes, registerPpmKind, writingRoutes } from './ppm.crud.ts';

/** Plans of initiatives: work breakdown, tasks, dependencies, completion and critical path. */
export function registerPlanRoutes(app: App): void {
  const reading = readingRoutes(app);

  registerPpmKind(app, {
    kind: tasks,
    path: 'tasks',
    name: 'Task',
    phrase: 'a task',
    param: 'task_id',
    schema: schemas.task,
    list: { description: 'With `sort_by=priority` the critical ones come first when they ascend.' },
    create: {
      example: { title: 'Move the data', start_date: '2026-03-02', due_date: '2026-03-20' },
      description: 'The assignee gets a to-do, which is completed with the task.',
    },
    patch: { example: { status: 'done' } },
    remove: { description: 'Its comments and dependencies are deleted too.' },
  });
  registerPpmKind(app, {
    kind: wbsItems,
    path: 'wbs',
    name: 'WbsItem',
    phrase: 'a WBS item',
    param: 'wbs_id',
    schema: schemas.wbs,
    create: {
      example: { title: 'Migration', start_date: '2026-03-01', end_date: '2026-06-30' },
      description: 'An item of the work breakdown, at most 10 levels deep.',
    },
    patch: { example: { completion: 40 } },
    remove: {
      description:
        'The items below it, and the dependencies of all of them, are deleted too. Their tasks remain without an item.',
    },
  });
  registerDependencyRoutes(app);
  registerCommentRoutes(app);

  reading.get('/api/v1/ppm/initiatives/:initiative_id/completion', {
    id: 'readCompletion',
    summary: 'Read the completion of an initiative',
    description:
      'The mean of the roots of its work breakdown. For an item with tasks it is the share of completed tasks, at the item and below, weighted by their days from start to due date (at least 1); for an item that only contains items it is their mean; for any other it is the completion that was entered.',
    answers: ok('Percent with one decimal', schemas.CompletionSchema),
    handler: ({ ctx, params }) => readCompletion(ctx, params.initiative_id),
  });

  reading.get('/api/v1/ppm/initiatives/:initiative_id/critical-path', {
    id: 'readCriticalPath',
    summary: 'Read the critical path of a plan',
    description:
      'Nothing starts before its predecessors have ended, nor before its own start date. A dependency of a WBS item applies to everything below it. Days are calendar days.',
    answers: ok('The schedule of the plan', schemas.CriticalPathSchema),
    errors: ['conflict'],
    // the domain writes the JSON, which is faster for thousands of items than serialising by schema
    handler: ({ ctx, params }) => readCriticalPath(ctx, params.initiative_id),
  });
}

function registerDependencyRoutes(app: App): void {
  const reading = readingRoutes(app);
  const writing = writingRoutes(app);
  const url = '/api/v1/ppm/initiatives/:initiative_id/dependencies';

  reading.get(url, {
    id: 'listTaskDependencies',
    summary: 'List the dependencies in the plan of an initiative',
    query: listQuery(ppmSorts(dependencies), 'created_at', {}),
    answers: page('A page of dependencies', schemas.dependency.item),
    handler: ({ ctx, params, query }) => listPpm(ctx, dependencies, params.initiative_id, query),
  });

  writing.post(url, {
    id: 'createTaskDependency',
    summary: 'Add a dependency to the plan of an initiative',
    description:
      'The successor starts when the predecessor has ended (finish to start, FS). A dependency of a WBS item applies to everything below it. Cycles are refused, including those through parent items.',
    body: schemas.DependencyBody,

    answers: created('The dependency', schemas.dependency.whole),
    errors: ['duplicate_dependency', 'limit_reached'],
    handler: ({ ctx, params, body }) => createDependency(ctx, params.initiative_id, body as DependencyInput),
  });

  writing.delete('/api/v1/ppm/dependencies/:dep_id', {
    id: 'deleteTaskDependency',
    summary: 'Delete a dependency',
    headers: ['If-Match'],
    handler: ({ ctx, params }) => deletePpm(ctx, dependencies, params.dep_id),
  });
}

function registerCommentRoutes(app: App): void {
  const reading = readingRoutes(app);
  const writing = writingRoutes(app);
  const url = '/api/v1/ppm/tasks/:task_id/comments';
  const one = '/api/v1/ppm/task-comments/:comment_id';
  const comment = schemas.taskComment.whole;

  reading.get(url, {
    id: 'listTaskComments',
    summary: 'List the comments on a task',
    query: listQuery(ppmSorts(taskComments), 'created_at', {}),
    answers: page('A page of comments', schemas.taskComment.item),
    handler: ({ ctx, params, query }) => listTaskComments(ctx, params.task_id, query),
  });

  writing.post(url, {
    id: 'createTaskComment',
    summary: 'Comment on a task',
    body: schemas.TaskCommentBody,

    answers: created('The comment', comment),
    errors: ['limit_reached'],
    handler: ({ ctx, params, body }) => createTaskComment(ctx, params.task_id, body),
  });

  writing.patch(one, {
    id: 'patchTaskComment',
    summary: 'Change the caller’s comment on a task',
    body: schemas.TaskCommentBody,

    headers: ['If-Match'],
    answers: ok('The comment', comment),
    handler: ({ ctx, params, body }) => patchPpm(ctx, taskComments, params.comment_id, body),
  });

  writing.delete(one, {
    id: 'deleteTaskComment',
    summary: 'Delete the caller’s comment on a task',
    headers: ['If-Match'],
    handler: ({ ctx, params }) => deletePpm(ctx, taskComments, params.comment_id),
  });
}
