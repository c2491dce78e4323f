import Type from 'typebox';
import { visibleConnection } from '../../../domain/exchange/itsm/itsm.model.ts';
import {
  arrayOf,
  Choice,
  component,
  itemComponent,
  Nullable,
  object,
  Timestamp,
} from '../../../domain/kernel/shapes.ts';
import { advice } from '../../../integrations/exchange/itsm/remote.ts';

const Masked = Nullable(Type.String({ description: 'A mask if the secret is set' }));

export const ItsmConnectionSchema = itemComponent('ItsmConnection', {
  ...visibleConnection.columns,
  password: Masked,
  client_secret: Masked,
  refresh_token: Masked,
  token: Masked,
  client_key: Masked,
  owner_name: Nullable(Type.String()),
  mapping_count: Type.Integer(),
});

export const ItsmConnectionTestSchema = component('ItsmConnectionTest', {
  success: Type.Boolean({ description: 'Whether the account has all rights that are needed' }),
  message: Type.String(),
  failure: Nullable(
    Type.Union(
      Object.keys(advice).map((code) => Type.Literal(code)),
      { description: 'Why the remote could not be called' },
    ),
  ),
  rights: arrayOf({
    table: Type.String(),
    right: Choice(['read', 'create', 'update', 'delete']),
    needed: Type.Boolean({ description: 'Whether synchronisation needs the right' }),
    granted: Nullable(Type.Boolean({ description: 'Null if the remote does not report it' })),
    how: Type.String({
      description: 'How that was determined, or what to request from the administrator',
    }),
  }),
});

export const ItsmRemoteTableSchema = itemComponent('ItsmRemoteTable', {
  name: Type.String(),
  label: Type.String(),
  parent: Nullable(Type.String({ description: 'The table whose columns it inherits' })),
});

const kinds = ['text', 'integer', 'decimal', 'boolean', 'date', 'datetime', 'reference', 'other'];

export const ItsmRemoteFieldSchema = itemComponent('ItsmRemoteField', {
  name: Type.String(),
  label: Type.String(),
  type: Choice(kinds),
  remote_type: Type.String({ description: 'The remote’s name of the type' }),
  reference: Nullable(Type.String({ description: 'The table that a reference refers to' })),
  max_length: Nullable(Type.Integer()),
  mandatory: Type.Boolean(),
  choices: arrayOf({ value: Type.String(), label: Type.String() }),
});

export const ItsmRemoteRelationTypeSchema = itemComponent('ItsmRemoteRelationType', {
  id: Type.String({ description: 'The `remote_type` of relation mappings' }),
  name: Type.String(),
  forward: Type.String({ description: 'How it reads from its parent' }),
  reverse: Type.String({ description: 'How it reads from its child' }),
});

const count = Type.Integer({ minimum: 0 });

export const ItsmConnectionHealthSchema = component('ItsmConnectionHealth', {
  status: Choice(
    ['ok', 'waiting', 'failing', 'paused'],
    '`failing`: the last run failed, or the circuit is open; `waiting`: a plan or a review item needs a decision',
  ),
  last_success_at: Nullable(Timestamp),
  last_failure_at: Nullable(Timestamp),
  last_failure: Nullable(Type.String()),
  failures_in_row: Type.Integer({ minimum: 0, description: 'Failed runs since the last successful one' }),
  runs_open: count,
  plans_waiting: Type.Integer({ minimum: 0, description: 'Plans in review' }),
  questions_open: Type.Integer({
    minimum: 0,
    description: 'Open review items: conflicts and uncertain matches',
  }),
  mappings: object({ total: count, active: count, drifted: count }),
  calls_last_day: Type.Integer({ minimum: 0, description: 'Requests of the runs of the last 24 hours' }),
  limiter: Nullable(
    object({
      rate: Type.Number({ description: 'The most requests that are sent per second' }),
      paused_until: Nullable(Timestamp),
      circuit: Choice(['closed', 'open'], 'Open: no request is sent, because several in a row failed'),
      open_until: Nullable(Timestamp),
      budget: Nullable(object({ limit: Type.Number(), remaining: Type.Number(), resets_at: Timestamp })),
      page_scale: Type.Number({ description: 'The page size as a fraction of the usual one' }),
    }),
  ),
});
