import Type from 'typebox';
import {
  component,
  itemComponent,
  Nullable,
  OpenObject,
  object,
  Position,
  Timestamp,
  Uuid,
} from '../../domain/kernel/shapes.ts';

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

export const MutationBatchSchema = component('MutationBatch', batchMembers);
export const MutationBatchItemSchema = itemComponent('MutationBatchItem', batchMembers);

export const MutationBatchEventSchema = itemComponent('MutationBatchEvent', {
  id: Uuid,
  position: Position,
  event_type: Type.String(),
  data: OpenObject,
  card_id: Nullable(Uuid),
  user_id: Nullable(Uuid),
  user_display_name: Nullable(Type.String()),
  created_at: Timestamp,
});

export const MutationBatchOpenBody = object({
  tool_name: Type.String({ minLength: 1, maxLength: 100, pattern: '\\S', description: 'What writes' }),
  dry_run: Type.Boolean({
    default: false,
    description: 'Check the writes that join the batch without committing them',
  }),
});

export const MutationBatchCommitBody = object({
  summary: Type.Optional(Nullable(OpenObject)),
  confirm_token: Type.Optional(Nullable(Type.String({ maxLength: 64 }))),
});

export const MutationBatchRollbackBody = object({
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

export const MutationBatchRollbackSchema = component('MutationBatchRollback', {
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
  conflict_count: Type.Integer({ minimum: 0 }),
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
  event_count: Type.Integer({ minimum: 0 }),
  dry_run: Type.Boolean(),
});
