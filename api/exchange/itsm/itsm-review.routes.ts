import Type from 'typebox';
import { applyRows, decideRows } from '../../../domain/exchange/itsm/runs.review.ts';
import { runText } from '../../../domain/exchange/itsm/runs.store.ts';
import { Choice, object } from '../../../domain/kernel/shapes.ts';
import { sendJson } from '../../json.ts';
import { routesOf } from '../../operation.ts';
import { ItsmRunSchema, rowActions } from '../../schemas/itsm-runs.ts';
import type { App } from '../../types.ts';
import { usesNote } from './itsm-rights.ts';

const manage = 'itsm_sync.manage';

const Rows = Type.Array(Type.Integer({ minimum: 0, maximum: 2_147_483_647 }), {
  minItems: 1,
  maxItems: 10_000,
  description: 'Numbers of rows',
});

/** What persons do with the plan of a run. */
export function registerItsmReviewRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'ITSM synchronisation' });

  const queued = {
    202: { description: 'The run, which continues as a job', schema: ItsmRunSchema },
  };

  for (const [decision, verb] of [
    ['approved', 'approve'],
    ['rejected', 'reject'],
  ] as const) {
    routes.post(`/api/v1/itsm-sync/sync/runs/:run_id/${verb}`, {
      id: `${verb}ItsmPlanRows`,
      summary: `${verb === 'approve' ? 'Approve' : 'Reject'} rows of a plan in review`,
      description:
        'The given rows, the rows of an action, or all pending rows. A later decision replaces an earlier one. Nothing is applied yet.',
      permission: manage,
      body: object({
        rows: Type.Optional(Rows),
        action: Type.Optional(Choice(rowActions, 'Only rows of this action')),
      }),
      bodyExample: { action: 'update' },
      answers: {
        200: {
          description: 'The number of rows',
          schema: object({ rows: Type.Integer({ minimum: 0 }) }),
        },
      },
      errors: ['wrong_state'],
      handler: async ({ ctx, params, body }) => ({
        rows: await decideRows(ctx, params.run_id, decision, body),
      }),
    });
  }

  routes.post('/api/v1/itsm-sync/sync/runs/:run_id/apply', {
    id: 'applyItsmPlan',
    summary: 'Apply a plan, or rows of it',
    description:
      'Applies the given rows; without `rows`, the approved rows, or all rows that are not rejected when none is approved. A row is only applied if both sides are still in the state that the plan was made from. A plan that exceeds the deletion limit needs `override_limit`.',
    permission: manage,
    permissionNote: usesNote,
    body: object({
      rows: Type.Optional(Rows),
      override_limit: Type.Optional(
        Type.Boolean({
          description: 'Apply a plan that exceeds the deletion limit, after a review of its removals',
        }),
      ),
    }),

    answers: queued,
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) => {
      await applyRows(ctx, params.run_id, {
        ...(body.rows === undefined ? {} : { rows: body.rows }),
        overrideLimit: body.override_limit ?? false,
      });
      return sendJson(reply.code(202), await runText(ctx.db, params.run_id));
    },
  });
}
