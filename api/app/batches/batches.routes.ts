import Type from 'typebox';
import { commitBatch, openBatch, startRollback } from '../../../domain/app/batches/batches.commands.ts';
import { batchText, listBatchEvents, listBatches } from '../../../domain/app/batches/batches.queries.ts';
import {
  Count,
  component,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Position,
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
  confirm_token: Nullable(
    Type.String({ description: 'Only returned by the operation that opens the batch' }),
  ),
  summary: Nullable(OpenObject),
  created_at: Timestamp,
  committed_at: Nullable(Timestamp),
  rolled_back_by: Nullable(Uuid),
  rolled_back_at: Nullable(Timestamp),
};

const MutationBatchSchema = component('MutationBatch', batchMembers);

const MutationBatchEventSchema = itemComponent('MutationBatchEvent', {
  id: Uuid,
  position: Position,
  event_type: Type.String(),
  data: OpenObject,
  card_id: Nullable(Uuid),
  user_id: Nullable(Uuid),
  user_display_name: Nullable(Type.String()),
  created_at: Timestamp,
});

const MutationBatchOpenBody = object({
  tool_name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', description: 'What writes' }),
  dry_run: Type.Boolean({
    default: false,
    description: 'Check the writes that join the batch without committing them',
  }),
});

const MutationBatchCommitBody = partialObject({
  summary: Nullable(OpenObject),
  confirm_token: Nullable(Type.String({ maxLength: 64 })),
});

const MutationBatchRollbackBody = object({
  dry_run: Type.Boolean({ default: true, description: 'Preview the rollback without writing' }),
  force: Type.Boolean({
    default: false,
    description: 'Skip changes that later batches have overwritten, and undo the rest',
  }),
});

const Conflict = object(
  {
    entity: Type.String(),
    id: Type.String(),
    card_id: Nullable(Uuid),
    batch_id: Nullable(Uuid),
    event_type: Type.String(),
    position: Position,
  },
  { description: 'The last later write to an object of the batch' },
);

const MutationBatchRollbackSchema = component('MutationBatchRollback', {
  batch: MutationBatchSchema,
  operations: Type.Array(
    object({
      event_id: Uuid,
      op: Type.String({ examples: ['restore_card_fields'] }),
      id: Type.String(),
      card_id: Nullable(Uuid),
      fields: OpenObject,
    }),
    { description: 'The undone events, newest first; at most 1,000' },
  ),
  unsupported_events: Type.Array(
    object({ event_type: Type.String(), count: Type.Integer(), reason: Type.String() }),
    { description: 'Events that cannot be undone, because of which the rollback is refused' },
  ),
  conflicts: Type.Array(Conflict, { description: 'At most 1,000; empty without `admin.events`' }),
  conflict_count: Count,
  left: Type.Array(
    object({
      event_id: Uuid,
      event_type: Type.String(),
      id: Type.String(),
      card_id: Nullable(Uuid),
      code: Type.String(),
      message: Type.String(),
      fields: Type.Optional(Type.Array(Type.String())),
    }),
    { description: 'Events that are skipped even with `force`' },
  ),
  counts: object({ undone: Type.Integer(), left: Type.Integer() }),
  event_count: Count,
  dry_run: Type.Boolean(),
});

const url = '/api/v1/mutation-batches';
const Moment = () => Type.Optional(Type.String({ format: 'date-time' }));

/** Mutation batches: open, join, close and inspect. */
export function registerBatchRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Mutation batches', permission: 'admin.events' });

  routes.post(url, {
    id: 'openMutationBatch',
    summary: 'Open a batch that writes can join',
    description:
      'Send its id as `X-Mutation-Batch` with the writes. Each write without the header has its own closed batch. With `dry_run`, writes are checked and answered but not committed, and `confirm_token` is required to close the batch, within 15 minutes.',
    permission: 'login',
    secretResponse: true,
    query: object({
      row_count: Type.Integer({
        minimum: 0,
        maximum: 2_000_000_000,
        default: 0,
        description: 'Expected number of rows to write',
      }),
    }),
    body: MutationBatchOpenBody,
    responses: {
      201: {
        description: 'The batch',
        schema: MutationBatchSchema,
      },
    },
    handler: ({ ctx, query, body }) => openBatch(ctx, { ...body, ...query }),
  });

  routes.get(url, {
    id: 'listMutationBatches',
    summary: 'List batches, newest first',
    query: listQuery(['created_at'], 'created_at', {
      actor_user_id: Type.Optional(Type.String({ ...Uuid, description: 'Whose they are' })),
      tool_name: Type.Optional(Type.String({ maxLength: 200, description: 'What wrote them' })),
      origin: Type.Optional(
        Type.String({
          maxLength: 20,
          description: 'The origin of the writes: api, web, mcp, job or system',
        }),
      ),
      since: Moment(),
      until: Moment(),
    }),
    responses: page('Batches', MutationBatchSchema),
    handler: ({ ctx, query }) => listBatches(ctx, query),
  });

  routes.get('/api/v1/mutation-batches/:id', {
    id: 'readMutationBatch',
    summary: 'Read a batch',
    responses: ok('The batch', MutationBatchSchema),
    handler: ({ ctx, params }) => batchText(ctx.db, params.id),
  });

  routes.get('/api/v1/mutation-batches/:id/events', {
    id: 'listMutationBatchEvents',
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

  routes.post('/api/v1/mutation-batches/:id/commit', {
    id: 'commitMutationBatch',
    summary: 'Close a batch of the caller',
    permission: 'login',
    body: MutationBatchCommitBody,
    responses: ok('The batch', MutationBatchSchema),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => commitBatch(ctx, params.id, body),
  });

  routes.post('/api/v1/mutation-batches/:id/rollback', {
    id: 'rollBackMutationBatch',
    summary: 'Roll back a closed batch, or preview the rollback',
    description:
      'A dry run unless `dry_run` is false; both require the permissions that the undone writes required. Changes of accounts, tokens, roles and secrets, and data sent to other systems cannot be undone: a batch with such writes is refused. Objects that later batches have changed are conflicts; `force` skips these changes. The rollback is a batch itself and can be rolled back. Large batches are undone by a job, whose `result` is the report. Actor and summary of another user’s batch are null without `admin.events`.',
    permission: 'admin.rollback',
    permissionNote: 'the permissions that the undone writes required',
    body: MutationBatchRollbackBody,
    responses: {
      200: {
        description: 'The executed or previewed changes',
        schema: MutationBatchRollbackSchema,
      },
      ...started,
    },
    errors: ['wrong_state', 'rollback_conflicts', 'rollback_unsupported'],
    handler: async ({ ctx, params, body, reply }) => {
      const outcome = await startRollback(ctx, params.id, body);
      if ('report' in outcome) return sendJson(reply, outcome.report);
      return reply.code(202).header('location', outcome.job.links.self).send(outcome.job);
    },
  });
}
