import Type from 'typebox';
import type { JobRights } from '../../kernel/jobs/jobs.enqueue.ts';
import { Internal, rowModel, SqlArray } from '../../kernel/resources/rows.ts';
import { Choice, Nullable, OpenObject, Timestamp, Uuid } from '../../kernel/shapes.ts';

export const webhookStatuses = ['active', 'paused'] as const;
/** Forms of deliveries: our own, Standard Webhooks and CloudEvents 1.0. */
const webhookFormats = ['estate', 'standard', 'cloudevents'] as const;
export type WebhookFormat = (typeof webhookFormats)[number];
export const deliveryStatuses = ['pending', 'delivered', 'dead'] as const;

const Names = Nullable(SqlArray(Type.String()));

export class Webhook extends rowModel('webhooks', {
  id: Uuid,
  name: Type.String({ minLength: 1, maxLength: 200 }),
  url: Type.String({ minLength: 1, maxLength: 2000, examples: ['https://hooks.example.com/estate'] }),
  event_types: Names,
  card_types: Names,
  format: Choice(webhookFormats, 'The form of deliveries: our own, Standard Webhooks or CloudEvents 1.0'),
  status: Choice(webhookStatuses),
  paused_reason: Nullable(Type.String()),
  owner_id: Uuid,
  /** The rights of the owner when subscribing. */
  rights: Internal(Type.Unsafe<JobRights>(OpenObject)),
  secret: Internal(Type.String()),
  previous_secret: Internal(Nullable(Type.String())),
  previous_secret_until: Nullable(Timestamp),
  /** Events up to here have deliveries. */
  position: Type.Integer(),
  failures: Internal(Type.Integer()),
  failing_since: Internal(Nullable(Timestamp)),
  last_delivered_at: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}

export class WebhookDelivery extends rowModel('webhook_deliveries', {
  id: Uuid,
  webhook_id: Internal(Uuid),
  /** Null for a ping. */
  position: Nullable(Type.Integer()),
  event_type: Type.String(),
  /** Deliveries with the same key are sent in order. */
  order_key: Internal(Type.String()),
  status: Choice(deliveryStatuses),
  attempts: Type.Integer(),
  next_attempt_at: Timestamp,
  leased_until: Internal(Nullable(Timestamp)),
  response_status: Nullable(Type.Integer()),
  error: Nullable(Type.String()),
  duration_ms: Nullable(Type.Integer()),
  expires_at: Internal(Timestamp),
  created_at: Timestamp,
  finished_at: Nullable(Timestamp),
}) {}
