import Type from 'typebox';
import {
  authTypes,
  connectionKinds,
  HttpSources,
  NewRecords,
} from '../../domain/exchange/itsm/connections.input.ts';
import { closed, Nullable, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';
import { advice } from '../../integrations/itsm/remote.ts';

const Masked = Nullable(Type.String({ description: 'A mask where it is set' }));

export const ItsmConnectionSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    name: Type.String(),
    kind: Type.Union(Object.keys(connectionKinds).map((kind) => Type.Literal(kind))),
    instance_url: Type.String(),
    auth_type: Type.Union(authTypes.map((authType) => Type.Literal(authType))),
    grant_type: Nullable(
      Type.Union([
        Type.Literal('password'),
        Type.Literal('client_credentials'),
        Type.Literal('refresh_token'),
      ]),
    ),
    username: Nullable(Type.String()),
    password: Masked,
    client_id: Nullable(Type.String()),
    client_secret: Masked,
    refresh_token: Masked,
    token: Masked,
    time_zone: Nullable(Type.String({ description: 'The IANA zone of the clocks of the remote' })),
    ca: Nullable(Type.String()),
    client_certificate: Nullable(Type.String()),
    sources: Nullable(HttpSources),
    new_records: Nullable(NewRecords),
    correlation_column: Nullable(Type.String()),
    client_key: Masked,
    is_active: Type.Boolean(),
    paused_reason: Nullable(Type.String({ description: 'Why the service has paused it' })),
    owner_id: Nullable({ ...Uuid, description: 'With whose rights its runs act' }),
    owner_name: Nullable(Type.String()),
    last_tested_at: Nullable(Timestamp),
    test_status: Nullable(Type.Union([Type.Literal('passed'), Type.Literal('failed')])),
    test_message: Nullable(Type.String({ description: 'What the last test said' })),
    mapping_count: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
  }),
  { $id: 'ItsmConnection', ...closed },
);

export const ItsmConnectionTestSchema = Type.Object(
  {
    success: Type.Boolean({ description: 'Whether the account lacks no right that is needed' }),
    message: Type.String(),
    failure: Nullable(
      Type.Union(
        Object.keys(advice).map((code) => Type.Literal(code)),
        { description: 'Why the remote could not be asked' },
      ),
    ),
    rights: Type.Array(
      Type.Object(
        {
          table: Type.String(),
          right: Type.Union(['read', 'create', 'update', 'delete'].map((right) => Type.Literal(right))),
          needed: Type.Boolean({ description: 'Without it nothing can be synchronised' }),
          granted: Nullable(Type.Boolean({ description: 'Null where the remote does not show it' })),
          how: Type.String({ description: 'How that is known, or what to ask for' }),
        },
        closed,
      ),
    ),
  },
  { $id: 'ItsmConnectionTest', ...closed },
);

export const ItsmRemoteTableSchema = Type.Partial(
  Type.Object({
    name: Type.String(),
    label: Type.String(),
    parent: Nullable(Type.String({ description: 'The table whose columns it takes over' })),
  }),
  { $id: 'ItsmRemoteTable', ...closed },
);

const kinds = ['text', 'integer', 'decimal', 'boolean', 'date', 'datetime', 'reference', 'other'];

export const ItsmRemoteFieldSchema = Type.Partial(
  Type.Object({
    name: Type.String(),
    label: Type.String(),
    type: Type.Union(kinds.map((kind) => Type.Literal(kind))),
    remote_type: Type.String({ description: 'What the remote itself calls the type' }),
    reference: Nullable(Type.String({ description: 'The table that a reference leads to' })),
    max_length: Nullable(Type.Integer()),
    mandatory: Type.Boolean(),
    choices: Type.Array(Type.Object({ value: Type.String(), label: Type.String() }, closed)),
  }),
  { $id: 'ItsmRemoteField', ...closed },
);

export const ItsmRemoteRelationTypeSchema = Type.Partial(
  Type.Object({
    id: Type.String({ description: 'What relation mappings name as `remote_type`' }),
    name: Type.String(),
    forward: Type.String({ description: 'How it reads from its parent' }),
    reverse: Type.String({ description: 'How it reads from its child' }),
  }),
  { $id: 'ItsmRemoteRelationType', ...closed },
);

const count = Type.Integer({ minimum: 0 });

export const ItsmConnectionHealthSchema = Type.Object(
  {
    status: Type.Union(
      ['ok', 'waiting', 'failing', 'paused'].map((one) => Type.Literal(one)),
      {
        description:
          '`failing`: its last run failed, or nothing is sent for now after failures in a row; `waiting`: a person has to look',
      },
    ),
    last_success_at: Nullable(Timestamp),
    last_failure_at: Nullable(Timestamp),
    last_failure: Nullable(Type.String()),
    failures_in_row: Type.Integer({ minimum: 0, description: 'Runs that failed since one went well' }),
    runs_open: count,
    plans_waiting: Type.Integer({ minimum: 0, description: 'Plans that wait for a decision' }),
    questions_open: Type.Integer({ minimum: 0, description: 'Conflicts and uncertain matches' }),
    mappings: Type.Object({ total: count, active: count, drifted: count }, closed),
    calls_last_day: Type.Integer({ minimum: 0, description: 'Requests of the runs of 24 hours' }),
    limiter: Nullable(
      Type.Object(
        {
          rate: Type.Number({ description: 'Requests a second that are sent at most' }),
          paused_until: Nullable(Timestamp),
          circuit: Type.Union([Type.Literal('closed'), Type.Literal('open')], {
            description: 'Open: nothing is sent after failures in a row',
          }),
          open_until: Nullable(Timestamp),
          budget: Nullable(
            Type.Object({ limit: Type.Number(), remaining: Type.Number(), resets_at: Timestamp }, closed),
          ),
          page_scale: Type.Number({ description: 'Part of the usual page that is asked for' }),
        },
        closed,
      ),
    ),
  },
  { $id: 'ItsmConnectionHealth', ...closed },
);
