import type { TSchema } from 'typebox';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { JsonText, ListParams } from '../../../domain/kernel/lists/lists.types.ts';
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
  DependencyBody,
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
import type { ErrorCode } from '../../../platform/errors.ts';
import { created, ok, page, routeGroup, routesOf } from '../../operation.ts';
import { filterSchemas, listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';
import * as schemas from './ppm.schemas.ts';

/** The routes that read plans and figures of initiatives. */
const readingRoutes = (app: App) =>
  routesOf(app, routeGroup('Project portfolio', 'ppm', 'ppm.view', 'read access to the initiative'));

/** What rows belong to: its path with the parameter of its id, and its name in summaries. */
interface Owner {
  url: string;
  param: string;
  phrase: string;
}
const initiative: Owner = {
  url: '/api/v1/ppm/initiatives/:initiative_id',
  param: 'initiative_id',
  phrase: 'an initiative',
};

/** The declaration of the operations on one kind of rows. */
interface PpmOperations {
  kind: PpmKind;
  /** The initiative by default. */
  owner?: Owner;
  /** In the path, such as `reports`; `one` in that of one row if it differs. */
  path: string;
  one?: string;
  /** In ids of operations, such as `StatusReport`; the plural ends in `s` by default. */
  name: string;
  names?: string;
  /** With its article, in summaries; the plural ends in `s` by default. */
  phrase: `a ${string}`;
  plural?: string;
  /** The path parameter with the id of a row. */
  param: string;
  /** Without `patch` rows are not changed. */
  schema: { row: TSchema; create: TSchema; patch?: TSchema };
  list?: { description?: string; run?: (ctx: Ctx, owner: string, params: ListParams) => Promise<JsonText> };
  create: {
    example?: object;
    description?: string;
    errors?: ErrorCode[];
    run?: (ctx: Ctx, owner: string, input: object) => Promise<JsonText>;
  };
  patch?: { example: object };
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
  const { kind, owner = initiative, path, name, phrase, param, schema, note } = declared;
  const { names = `${name}s`, plural = `${phrase.slice(2)}s` } = declared;
  const reading = readingRoutes(app);
  const rights = ['read access to the initiative'];
  if (kind.costs) rights.push('costs.view, or a stakeholder role on the initiative');
  const changing = routesOf(app, routeGroup('Project portfolio', 'ppm', 'ppm.manage', rights.join('; ')));
  const collection = `${owner.url}/${path}`;
  const one = `/api/v1/ppm/${declared.one ?? path}/:${param}`;

  reading.get(`list${names}`, collection, {
    summary: `List the ${plural} of ${owner.phrase}`,
    ...described(declared.list?.description),
    query: listQuery(ppmSorts(kind), kind.defaultSort ?? 'created_at', filterSchemas(kind)),
    responses: page(`A page of ${plural}`, schema.row),
    handler: ({ ctx, params, query }) => {
      const id = params[owner.param]!;
      const asked = query as unknown as ListParams;
      return declared.list?.run?.(ctx, id, asked) ?? listPpm(ctx, kind, id, asked);
    },
  });

  changing.post(`create${name}`, collection, {
    summary: `Add ${phrase} to ${owner.phrase}`,
    ...described(declared.create.description, note),
    body: schema.create,
    bodyExample: declared.create.example,
    responses: created('The new row', schema.row),
    errors: ['limit_reached', ...(declared.create.errors ?? [])],
    handler: ({ ctx, params, body }) => {
      const { run = (_, id, input) => createPpm(ctx, kind, id, input) } = declared.create;
      return run(ctx, params[owner.param]!, body as object);
    },
  });

  if (schema.patch) {
    changing.patch(`patch${name}`, one, {
      summary: `Change ${phrase}`,
      ...described(note),
      body: schema.patch,
      bodyExample: declared.patch?.example,
      responses: ok('The changed row', schema.row),
      handler: ({ ctx, params, body }) => patchPpm(ctx, kind, params[param]!, body as Partial<PpmRow>),
    });
  }

  changing.delete(`delete${name}`, one, {
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
  registerPpmKind(app, {
    kind: dependencies,
    path: 'dependencies',
    name: 'TaskDependency',
    names: 'TaskDependencies',
    phrase: 'a dependency',
    plural: 'dependencies',
    param: 'dep_id',
    schema: { row: schemas.dependency, create: DependencyBody },
    create: {
      description:
        'The successor starts when the predecessor has ended (finish to start, FS). A dependency of a WBS item applies to everything below it. Cycles are refused, including those through parent items.',
      errors: ['duplicate_dependency'],
      run: (ctx, id, input) => createDependency(ctx, id, input as DependencyInput),
    },
  });
  registerPpmKind(app, {
    kind: taskComments,
    owner: { url: '/api/v1/ppm/tasks/:task_id', param: 'task_id', phrase: 'a task' },
    path: 'comments',
    one: 'task-comments',
    name: 'TaskComment',
    phrase: 'a comment',
    param: 'comment_id',
    schema: { row: schemas.taskComment, create: schemas.TaskCommentBody, patch: schemas.TaskCommentBody },
    list: { run: listTaskComments },
    create: { run: (ctx, id, input) => createTaskComment(ctx, id, input as { content: string }) },
  });

  reading.get('readCompletion', '/api/v1/ppm/initiatives/:initiative_id/completion', {
    summary: 'Read the completion of an initiative',
    description:
      'The mean of the roots of its work breakdown. For an item with tasks it is the share of completed tasks, at the item and below, weighted by their days from start to due date (at least 1); for an item that only contains items it is their mean; for any other it is the completion that was entered.',
    responses: ok('Percent with one decimal', schemas.CompletionSchema),
    handler: ({ ctx, params }) => readCompletion(ctx, params.initiative_id),
  });

  reading.get('readCriticalPath', '/api/v1/ppm/initiatives/:initiative_id/critical-path', {
    summary: 'Read the critical path of a plan',
    description:
      'Nothing starts before its predecessors have ended, nor before its own start date. A dependency of a WBS item applies to everything below it. Days are calendar days.',
    responses: ok('The schedule of the plan', schemas.CriticalPathSchema),
    errors: ['conflict'],
    // the domain writes the JSON, which is faster for thousands of items than serialising by schema
    handler: ({ ctx, params }) => readCriticalPath(ctx, params.initiative_id),
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

  reading.get('readHasCosts', '/api/v1/ppm/initiatives/:initiative_id/has-costs', {
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
