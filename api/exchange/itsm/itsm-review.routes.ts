import Type from 'typebox';
import { applyRows, decideRows } from '../../../domain/exchange/itsm/runs.commands.ts';
import { runText } from '../../../domain/exchange/itsm/runs.queries.ts';
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
    202: { description: 'The run, which goes on as a job', schema: ItsmRunSchema },
  };

  for (const [word, verb] of [
    ['approved', 'approve'],
    ['rejected', 'reject'],
  ] as const) {
    routes.post(`/api/v1/itsm-sync/sync/runs/:run_id/${verb}`, {
      id: `${verb}ItsmPlanRows`,
      summary: `${verb === 'approve' ? 'Approve' : 'Reject'} rows of a plan that waits for review`,
      description:
        'The given rows, those of an action, or all that wait. A later word takes the place of an earlier one. Nothing is applied yet.',
      permission: manage,
      body: object({
        rows: Type.Optional(Rows),
        action: Type.Optional(Choice(rowActions, 'Rows of this action alone')),
      }),
      bodyExample: { action: 'update' },
      answers: {
        200: {
          description: 'How many rows it is about',
          schema: object({ rows: Type.Integer({ minimum: 0 }) }),
        },
      },
      errors: ['wrong_state'],
      handler: async ({ ctx, params, body }) => ({ rows: await decideRows(ctx, params.run_id, word, body) }),
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
        Type.Boolean({ description: 'Somebody has looked at the removals, and they are meant' }),
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
