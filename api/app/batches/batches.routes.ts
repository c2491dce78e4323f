import Type from 'typebox';
import { commitBatch, openBatch, startRollback } from '../../../domain/app/batches/batches.commands.ts';
import {
  batchEventMembers,
  batchList,
  batchText,
  listBatchEvents,
} from '../../../domain/app/batches/batches.queries.ts';
import { rollbackReport } from '../../../domain/app/batches/batches.rollback.ts';
import { eventSchemas } from '../../../domain/kernel/events/events.queries.ts';
import {
  component,
  Flag,
  IntegerIn,
  itemComponent,
  Nullable,
  NullableText,
  OpenObject,
  object,
  partialObject,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { sendJson } from '../../json.ts';
import { started } from '../../kernel/jobs/jobs.schemas.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { listQuery, listResponse } from '../../schemas.ts';
import type { App } from '../../types.ts';

const batchMembers = {
  id: Uuid,
  tool_name: Type.String(),
  actor_user_id: Nullable(Uuid),
  actor_display_name: Nullable(Type.String()),
  origin: Type.String(),
  dry_run: Type.Boolean({ description: 'Whether joined writes are checked and not committed' }),
  row_count: Type.Integer({
    minimum: 0,
    description: 'The announced number of rows; without it the number of events of its first transaction',
  }),
  confirm_token: NullableText('Only returned by the operation that opens the batch'),
  summary: Nullable(OpenObject),
  created_at: Timestamp,
  committed_at: Nullable(Timestamp),
  rolled_back_by: Nullable(Uuid),
  rolled_back_at: Nullable(Timestamp),
};

const MutationBatchSchema = component('MutationBatch', batchMembers);

const MutationBatchEventSchema = itemComponent('MutationBatchEvent', eventSchemas(batchEventMembers));

const MutationBatchOpenBody = object({
  tool_name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', description: 'What writes' }),
  dry_run: Flag('Check the writes that join the batch without committing them'),
});

const MutationBatchCommitBody = partialObject({
  summary: Nullable(OpenObject),
  confirm_token: Nullable(Type.String({ maxLength: 64 })),
});

const MutationBatchRollbackBody = object({
  dry_run: Type.Boolean({ default: true, description: 'Preview the rollback without writing' }),
  force: Flag('Skip changes that later batches have overwritten, and undo the rest'),
});

const MutationBatchRollbackSchema = component('MutationBatchRollback', {
  batch: MutationBatchSchema,
  ...rollbackReport,
});

const url = '/api/v1/mutation-batches';
/** Mutation batches: open, join, close and inspect. */
export function registerBatchRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Mutation batches', permission: 'admin.events' });

  routes.post('openMutationBatch', url, {
    summary: 'Open a batch that writes can join',
    description:
      'Send its id as `X-Mutation-Batch` with the writes. Each write without the header has its own closed batch; `X-Action-Id` combines the writes of several requests in one. With `dry_run`, writes are checked and answered but not committed, and `confirm_token` is required to close the batch, within 15 minutes.',
    permission: 'login',
    secretResponse: true,
    query: object({
      row_count: IntegerIn(0, 2_000_000_000, 'Expected number of rows to write', 0),
    }),
    body: MutationBatchOpenBody,
    responses: { 201: { description: 'The batch', schema: MutationBatchSchema } },
    handler: ({ ctx, query, body }) => openBatch(ctx, { ...body, ...query }),
  });

  routes.list('listMutationBatches', url, batchList, {
    summary: 'List batches, newest first',
    responses: page('Batches', MutationBatchSchema),
  });

  routes.get('readMutationBatch', '/api/v1/mutation-batches/:id', {
    summary: 'Read a batch',
    responses: ok('The batch', MutationBatchSchema),
    handler: ({ ctx, params }) => batchText(ctx.db, params.id),
  });

  routes.get('listMutationBatchEvents', '/api/v1/mutation-batches/:id/events', {
    summary: 'List the events of a batch, in order',
    query: listQuery(['position'], 'position', {}),
    responses: ok(
      'The batch and its events',
      object({
        batch: MutationBatchSchema,
        ...listResponse(MutationBatchEventSchema).properties,
      }),
    ),
    handler: ({ ctx, params, query }) => listBatchEvents(ctx, params.id, query),
  });

  registerBatchEndRoutes(app);
}

/** Commit and rollback of batches. */
function registerBatchEndRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Mutation batches' });

  routes.post('commitMutationBatch', '/api/v1/mutation-batches/:id/commit', {
    summary: 'Close a batch of the caller',
    permission: 'login',
    body: MutationBatchCommitBody,
    responses: ok('The batch', MutationBatchSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => commitBatch(ctx, params.id, body),
  });

  routes.post('rollBackMutationBatch', '/api/v1/mutation-batches/:id/rollback', {
    summary: 'Roll back a closed batch, or preview the rollback',
    description:
      'A dry run unless `dry_run` is false; both require the permissions that the undone writes required, and for batches of others `admin.rollback`. Changes of accounts, tokens, roles and secrets, and data sent to other systems cannot be undone: a batch with such writes is refused. Objects that later batches have changed are conflicts, and so are created cards above those that stay; `force` skips these changes. The rollback is a batch itself and can be rolled back. Large batches are undone by a job, whose `result` is the report. Actor and summary of another user’s batch are null without `admin.events`.',
    permission: 'login',
    permissionNote: "admin.rollback for others' batches; the permissions that the undone writes required",
    scope: 'admin.rollback',
    body: MutationBatchRollbackBody,
    responses: { ...ok('The executed or previewed changes', MutationBatchRollbackSchema), ...started },
    errors: ['wrong_state', 'rollback_conflicts', 'rollback_unsupported'],
    handler: async ({ ctx, params, body, reply }) => {
      const outcome = await startRollback(ctx, params.id, body);
      if ('report' in outcome) return sendJson(reply, outcome.report);
      return reply.code(202).header('location', outcome.job.links.self).send(outcome.job);
    },
  });
}
