import Type from 'typebox';
import { rowActions } from '../../../domain/exchange/itsm/itsm.model.ts';
import type { SyncDirection } from '../../../domain/exchange/itsm/mappings.types.ts';
import { startRun } from '../../../domain/exchange/itsm/runs.commands.ts';
import { itsmRunList, planRowList, runLogList, runText } from '../../../domain/exchange/itsm/runs.queries.ts';
import { applyRows, cancelRun, decideRows } from '../../../domain/exchange/itsm/runs.review.ts';
import { Choice, itemsIn, OptionalFlag, object } from '../../../domain/kernel/shapes.ts';
import { XLSX } from '../../../domain/kernel/transfer/xlsx.read.ts';
import { undoRun } from '../../../integrations/exchange/itsm/runs/run.undo.ts';
import { downloadPlan } from '../../../reports/exchange/itsm/itsm-plan.download.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';
import { usesNote } from './itsm-rights.ts';
import { ItsmPlanRowSchema, ItsmRunLogLineSchema, ItsmRunSchema } from './itsm-runs.schemas.ts';

const manage = 'itsm_sync.manage';
const base = '/api/v1/itsm-sync';

const queued = { 202: { description: 'The run, which continues as a job', schema: ItsmRunSchema } };

/** Runs with their plans and logs. */
export function registerItsmRunRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  const start = (url: string, id: string, summary: string, direction: SyncDirection | undefined) =>
    routes.post(id, `/api/v1/itsm-sync/sync/${url}/:mapping_id`, {
      summary,
      description:
        'The run reads both sides, creates a plan, and applies it or goes into review: see its status. It supersedes a plan of the mapping in review. 409 while a run is queued or running, or if the mapping or its connection is paused.',
      permission: manage,
      permissionNote: usesNote,
      query: object({
        auto_apply: OptionalFlag(
          'Apply the plan without review, within the limits of the mapping; default: the setting of the mapping',
        ),
        complete: OptionalFlag(
          'Read all records, not only changed ones; default: if the last full read is older than `complete_every_hours`',
        ),
      }),
      responses: queued,
      errors: ['wrong_state'],
      handler: async ({ ctx, params, query, reply }) => {
        const runId = await startRun(ctx, {
          mappingId: params.mapping_id,
          trigger: 'manual',
          ...(direction === undefined ? {} : { direction }),
          ...(query.complete === undefined ? {} : { complete: query.complete }),
          ...(query.auto_apply === undefined ? {} : { autoApply: query.auto_apply }),
        });
        reply.code(202).header('location', `${base}/sync/runs/${runId}`);
        return await runText(ctx.db, runId!);
      },
    });
  start('pull', 'pullItsmMapping', 'Pull a mapping: update the inventory from the remote', 'pull');
  start('push', 'pushItsmMapping', 'Push a mapping: update the remote from the inventory', 'push');
  start('run', 'runItsmMapping', 'Run a mapping in its own direction', undefined);

  registerItsmRunReadRoutes(app);
  registerItsmReviewRoutes(app);
  registerItsmUndoRoutes(app);
}

function registerItsmRunReadRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.list('listItsmRuns', '/api/v1/itsm-sync/sync/runs', itsmRunList, {
    summary: 'List runs, the newest first',
    responses: page('Runs', ItsmRunSchema),
  });

  routes.item('readItsmRun', '/api/v1/itsm-sync/sync/runs/:run_id', itsmRunList, 'run', {
    summary: 'Read one run',
    responses: ok('The run', ItsmRunSchema),
  });

  routes.list('listItsmPlanRows', '/api/v1/itsm-sync/sync/runs/:run_id/staged', planRowList, {
    summary: 'List the rows of a run’s plan',
    description:
      'The planned and applied changes of the run, each with its reason; also rows that need a user’s decision (`conflict`, `stage`) and rows that change nothing (`skip`). Empty until the plan is complete.',
    responses: page('Rows', ItsmPlanRowSchema),
  });

  routes.get('downloadItsmPlan', '/api/v1/itsm-sync/sync/runs/:run_id/plan', {
    summary: 'Download the plan of a run',
    description:
      'JSON: the run and its rows; XLSX: one line per changed field. Cells never contain formulas.',
    permission: 'itsm_sync.view',
    query: object({
      format: Choice(['json', 'xlsx'], 'The file format', 'json'),
    }),
    responses: {
      200: {
        description: 'The plan',
        schema: object({ run: ItsmRunSchema, rows: Type.Array(ItsmPlanRowSchema) }),
        otherMedia: [XLSX],
      },
    },
    handler: async ({ ctx, params, query, reply }) => {
      const file = await downloadPlan(ctx, params.run_id, query.format);
      reply
        .header('content-type', file.mediaType)
        .header('content-disposition', `attachment; filename="${file.name}"`)
        .header('cache-control', 'no-store');
      return file.body;
    },
  });

  routes.list('listItsmRunLog', '/api/v1/itsm-sync/sync/runs/:run_id/log', runLogList, {
    summary: 'List the log of a run',
    responses: page('Lines', ItsmRunLogLineSchema),
  });

  routes.post('cancelItsmRun', '/api/v1/itsm-sync/sync/runs/:run_id/cancel', {
    summary: 'Cancel a run or a plan in review',
    description: 'Applied rows stay applied.',
    permission: manage,
    responses: ok('The run', ItsmRunSchema),
    errors: ['wrong_state'],
    handler: async ({ ctx, params }) => {
      await cancelRun(ctx, params.run_id);
      return await runText(ctx.db, params.run_id);
    },
  });
}

const Rows = Type.Array(
  Type.Integer({ minimum: 0, maximum: 2_147_483_647 }),
  itemsIn(1, 10_000, 'Numbers of rows'),
);

/** What users do with the plan of a run. */
function registerItsmReviewRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  for (const [decision, verb] of [
    ['approved', 'approve'],
    ['rejected', 'reject'],
  ] as const) {
    routes.post(`${verb}ItsmPlanRows`, `/api/v1/itsm-sync/sync/runs/:run_id/${verb}`, {
      summary: `${verb === 'approve' ? 'Approve' : 'Reject'} rows of a plan in review`,
      description:
        'The given rows, the rows of an action, or all pending rows. A later decision replaces an earlier one. Nothing is applied yet.',
      permission: manage,
      body: object({
        rows: Type.Optional(Rows),
        action: Type.Optional(Choice(rowActions, 'Only rows of this action')),
      }),
      bodyExample: { action: 'update' },
      responses: ok('The number of rows', object({ rows: Type.Integer({ minimum: 0 }) })),
      errors: ['wrong_state'],
      handler: async ({ ctx, params, body }) => ({
        rows: await decideRows(ctx, params.run_id, decision, body),
      }),
    });
  }

  routes.post('applyItsmPlan', '/api/v1/itsm-sync/sync/runs/:run_id/apply', {
    summary: 'Apply a plan, or rows of it',
    description:
      'Applies the given rows; without `rows`, the approved rows, or all rows that are not rejected when none is approved. A row is only applied if both sides are still in the state that the plan was made from. A plan that exceeds the deletion limit needs `override_limit`.',
    permission: manage,
    permissionNote: usesNote,
    body: object({
      rows: Type.Optional(Rows),
      override_limit: OptionalFlag(
        'Apply a plan that exceeds the deletion limit, after a review of its removals',
      ),
    }),
    responses: queued,
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body }) => {
      await applyRows(ctx, params.run_id, {
        ...(body.rows === undefined ? {} : { rows: body.rows }),
        overrideLimit: body.override_limit ?? false,
      });
      return await runText(ctx.db, params.run_id);
    },
  });
}

/** Undo of runs. */
function registerItsmUndoRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  routes.post('undoItsmRun', '/api/v1/itsm-sync/sync/runs/:run_id/undo', {
    summary: 'Undo a run',
    description:
      'Starts a run that reverts the applied rows, from the last to the first, in the inventory and at the remote. A row whose result has changed since is not reverted: it ends as `stale` with the reason. The next run proposes the same changes again, unless you change the mapping or unmap the pairs. A plan of the mapping in review is superseded. 409 if no row was applied, the run was already undone, a run is queued or running, or the mapping or its connection is paused or deleted.',
    permission: manage,
    permissionNote: usesNote,
    responses: queued,
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      const runId = await undoRun(ctx, params.run_id);
      reply.code(202).header('location', `${base}/sync/runs/${runId}`);
      return await runText(ctx.db, runId);
    },
  });
}
