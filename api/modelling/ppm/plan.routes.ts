import type { TSchema } from 'typebox';
import type { ListParams } from '../../../domain/kernel/lists/lists.types.ts';
import {
  budgetLines,
  costLines,
  projectRisks,
  readHasCosts,
  statusReports,
} from '../../../domain/modelling/ppm/initiative.kinds.ts';
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
import {
  createPpm,
  deletePpm,
  listPpm,
  type PpmKind,
  type PpmRow,
  patchPpm,
  ppmSorts,
} from '../../../domain/modelling/ppm/ppm.kinds.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import * as schemas from './ppm.schemas.ts';

/** The routes that read plans and figures of initiatives. */
const readingRoutes = (app: App) =>
  routesOf(app, {
    tag: 'Project portfolio',
    module: 'ppm',
    permission: 'ppm.view',
    permissionNote: 'read access to the initiative',
  });
/** The routes that change them; `note` lists additional requirements. */
const writingRoutes = (app: App, note?: string) =>
  routesOf(app, {
    tag: 'Project portfolio',
    module: 'ppm',
    permission: 'ppm.manage',
    permissionNote: ['read access to the initiative', note].filter(Boolean).join('; '),
  });

/** The declaration of the operations on one kind of rows. */
interface PpmOperations {
  kind: PpmKind;
  /** In the path, such as `reports`. */
  path: string;
  /** In ids of operations, such as `StatusReport`; the plural ends in `s`. */
  name: string;
  /** With its article, in summaries; the plural ends in `s`. */
  phrase: `a ${string}`;
  /** The path parameter with the id of a row. */
  param: string;
  schema: { row: TSchema; create: TSchema; patch: TSchema };
  list?: { description: string };
  create: { example: object; description?: string };
  patch: { example: object };
  remove?: { description: string };
  /** A part of the description of each write. */
  note?: string;
}

const described = (...sentences: (string | undefined)[]) => {
  const description = sentences.filter(Boolean).join(' ');
  return description === '' ? {} : { description };
};

/** Lists, creates, changes and deletes one kind of the rows of initiatives. */
function registerPpmKind(app: App, declared: PpmOperations): void {
  const { kind, path, name, phrase, param, schema, note } = declared;
  const { filters = {}, defaultSort = 'created_at' } = kind;
  const many = `${phrase.slice(2)}s`;
  const reading = readingRoutes(app);
  const changing = writingRoutes(app, kind.costs && 'costs.view, or a stakeholder role on the initiative');
  const collection = `/api/v1/ppm/initiatives/:initiative_id/${path}`;
  const one = `/api/v1/ppm/${path}/:${param}`;

  reading.get(collection, {
    id: `list${name}s`,
    summary: `List the ${many} of an initiative`,
    ...described(declared.list?.description),
    query: listQuery(ppmSorts(kind), defaultSort, filters),
    responses: page(`A page of ${many}`, schema.row),
    handler: async ({ ctx, params, query }) => {
      const asked = Object.entries(query).filter(([key]) => key in filters);
      const list = query as unknown as ListParams;
      return await listPpm(ctx, kind, params.initiative_id!, list, Object.fromEntries(asked));
    },
  });

  changing.post(collection, {
    id: `create${name}`,
    summary: `Add ${phrase} to an initiative`,
    ...described(declared.create.description, note),
    body: schema.create,
    bodyExample: declared.create.example,
    responses: created('The new row', schema.row),
    errors: ['limit_reached'],
    handler: ({ ctx, params, body }) => createPpm(ctx, kind, params.initiative_id!, body as Partial<PpmRow>),
  });

  changing.patch(one, {
    id: `patch${name}`,
    summary: `Change ${phrase}`,
    ...described(note),
    body: schema.patch,
    bodyExample: declared.patch.example,
    responses: ok('The changed row', schema.row),
    handler: ({ ctx, params, body }) => patchPpm(ctx, kind, params[param]!, body as Partial<PpmRow>),
  });

  changing.delete(one, {
    id: `delete${name}`,
    summary: `Delete ${phrase}`,
    ...described(declared.remove?.description, note),
    ifMatch: true,
    handler: ({ ctx, params }) => deletePpm(ctx, kind, params[param]!),
  });
}

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
    responses: ok('Percent with one decimal', schemas.CompletionSchema),
    handler: ({ ctx, params }) => readCompletion(ctx, params.initiative_id),
  });

  reading.get('/api/v1/ppm/initiatives/:initiative_id/critical-path', {
    id: 'readCriticalPath',
    summary: 'Read the critical path of a plan',
    description:
      'Nothing starts before its predecessors have ended, nor before its own start date. A dependency of a WBS item applies to everything below it. Days are calendar days.',
    responses: ok('The schedule of the plan', schemas.CriticalPathSchema),
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
    responses: page('A page of dependencies', schemas.dependency),
    handler: ({ ctx, params, query }) => listPpm(ctx, dependencies, params.initiative_id, query),
  });

  writing.post(url, {
    id: 'createTaskDependency',
    summary: 'Add a dependency to the plan of an initiative',
    description:
      'The successor starts when the predecessor has ended (finish to start, FS). A dependency of a WBS item applies to everything below it. Cycles are refused, including those through parent items.',
    body: schemas.DependencyBody,
    responses: created('The dependency', schemas.dependency),
    errors: ['duplicate_dependency', 'limit_reached'],
    handler: ({ ctx, params, body }) => createDependency(ctx, params.initiative_id, body as DependencyInput),
  });

  writing.delete('/api/v1/ppm/dependencies/:dep_id', {
    id: 'deleteTaskDependency',
    summary: 'Delete a dependency',
    ifMatch: true,
    handler: ({ ctx, params }) => deletePpm(ctx, dependencies, params.dep_id),
  });
}

function registerCommentRoutes(app: App): void {
  const reading = readingRoutes(app);
  const writing = writingRoutes(app);
  const url = '/api/v1/ppm/tasks/:task_id/comments';
  const one = '/api/v1/ppm/task-comments/:comment_id';
  const comment = schemas.taskComment;

  reading.get(url, {
    id: 'listTaskComments',
    summary: 'List the comments on a task',
    query: listQuery(ppmSorts(taskComments), 'created_at', {}),
    responses: page('A page of comments', schemas.taskComment),
    handler: ({ ctx, params, query }) => listTaskComments(ctx, params.task_id, query),
  });

  writing.post(url, {
    id: 'createTaskComment',
    summary: 'Comment on a task',
    body: schemas.TaskCommentBody,
    responses: created('The comment', comment),
    errors: ['limit_reached'],
    handler: ({ ctx, params, body }) => createTaskComment(ctx, params.task_id, body),
  });

  writing.patch(one, {
    id: 'patchTaskComment',
    summary: 'Change the caller’s comment on a task',
    body: schemas.TaskCommentBody,
    responses: ok('The comment', comment),
    handler: ({ ctx, params, body }) => patchPpm(ctx, taskComments, params.comment_id, body),
  });

  writing.delete(one, {
    id: 'deleteTaskComment',
    summary: 'Delete the caller’s comment on a task',
    ifMatch: true,
    handler: ({ ctx, params }) => deletePpm(ctx, taskComments, params.comment_id),
  });
}

const costsNote = 'Also requires costs.view, or a role on the initiative.';

/** Status reports, cost and budget lines and risks of initiatives. */
export function registerInitiativeRoutes(app: App): void {
  const reading = readingRoutes(app);

  registerPpmKind(app, {
    kind: statusReports,
    path: 'reports',
    name: 'StatusReport',
    phrase: 'a status report',
    param: 'report_id',
    schema: schemas.statusReport,
    create: {
      example: { report_date: '2026-03-31', schedule_health: 'atRisk', summary: 'The supplier is late.' },
      description: 'The caller becomes its reporter.',
    },
    patch: { example: { schedule_health: 'onTrack' } },
  });
  registerPpmKind(app, {
    kind: costLines,
    path: 'costs',
    name: 'CostLine',
    phrase: 'a cost line',
    param: 'cost_id',
    schema: schemas.costLine,
    create: {
      example: {
        description: 'Licences',
        category: 'opex',
        planned: 12_000,
        actual: 4_000,
        date: '2026-02-01',
      },
    },
    patch: { example: { actual: 6_500.5 } },
    note: `The initiative’s \`costActual\` is set to the sum of \`actual\`, and cleared where that is 0. ${costsNote}`,
  });
  registerPpmKind(app, {
    kind: budgetLines,
    path: 'budgets',
    name: 'BudgetLine',
    phrase: 'a budget line',
    param: 'budget_id',
    schema: schemas.budgetLine,
    create: {
      example: { fiscal_year: 2026, category: 'capex', amount: 250_000 },
    },
    patch: { example: { amount: 275_000 } },
    note: `The initiative’s \`costBudget\` is set to the sum of \`amount\`, and cleared where that is 0. ${costsNote}`,
  });

  reading.get('/api/v1/ppm/initiatives/:initiative_id/has-costs', {
    id: 'readHasCosts',
    summary: 'Read whether an initiative has cost and budget lines',
    description: 'While it has such lines, `costActual` or `costBudget` is their sum and cannot be written.',
    responses: ok('Which kinds of lines exist', schemas.HasCostsSchema),
    handler: ({ ctx, params }) => readHasCosts(ctx, params.initiative_id),
  });

  registerPpmKind(app, {
    kind: projectRisks,
    path: 'risks',
    name: 'ProjectRisk',
    phrase: 'a project risk',
    param: 'risk_id',
    schema: schemas.projectRisk,
    create: {
      example: { title: 'The supplier is late', probability: 4, impact: 3 },
      description: 'The score is probability times impact.',
    },
    patch: { example: { status: 'mitigating', mitigation: 'A second supplier.' } },
  });
}
