import Type, { type Static } from 'typebox';
import type { JobRights } from '../../kernel/jobs/jobs.enqueue.ts';
import { Internal, type RowOf, rowModel } from '../../kernel/resources/rows.ts';
import {
  Choice,
  component,
  Nullable,
  NullableText,
  OpenObject,
  object,
  optional,
  Timestamp,
  Uuid,
} from '../../kernel/shapes.ts';
import { ApiKeyPlace, OAuthClient } from './connections.auth.ts';
import { authTypes, type ConnectionKind, connectionKinds, NewRecords } from './connections.input.ts';
import { HttpSources } from './http-sources.input.ts';

const Text = Nullable(Type.String());

export class Connection extends rowModel('itsm_connections', {
  id: Uuid,
  name: Type.String(),
  kind: Choice(Object.keys(connectionKinds) as ConnectionKind[]),
  /** Scheme and host, and for some kinds a path. */
  instance_url: Type.String(),
  auth_type: Choice(authTypes),
  /** Null unless `auth_type` is oauth2. */
  grant_type: Nullable(Choice(['password', 'client_credentials', 'refresh_token'])),
  username: Text,
  client_id: Text,
  /** The client at its authorization server; null: the remote issues its tokens itself. */
  oauth: Nullable(OAuthClient),
  /** Where the key is sent; null unless `auth_type` is api_key. */
  api_key: Nullable(ApiKeyPlace),
  time_zone: NullableText('The IANA time zone of the remote’s times'),
  ca: Text,
  client_certificate: Text,
  /** The lists of an http connection; null for other kinds. */
  sources: Nullable(HttpSources),
  /** The create API; null: the table. */
  new_records: Nullable(NewRecords),
  /** The column that stores the correlation id; null: the default one. */
  correlation_column: Text,
  /** Encrypted. */
  secrets: Internal(Type.String()),
  is_active: Type.Boolean(),
  paused_reason: NullableText('Why the service paused the connection'),
  owner_id: Nullable({ ...Uuid, description: 'The user with whose permissions its runs act' }),
  /** The rights of the owner when becoming the owner. */
  rights: Internal(Type.Unsafe<JobRights>(OpenObject)),
  last_tested_at: Nullable(Timestamp),
  test_status: Nullable(Choice(['passed', 'failed'])),
  test_message: NullableText('The message of the last test'),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}

export const settingNames = [
  'name',
  'kind',
  'instance_url',
  'auth_type',
  'grant_type',
  'username',
  'client_id',
  'oauth',
  'api_key',
  'time_zone',
  'ca',
  'client_certificate',
  'sources',
  'new_records',
  'correlation_column',
  'is_active',
] as const;
/** The settings of a connection, without its secrets. */
export type ConnectionSettings = Pick<RowOf<typeof Connection>, (typeof settingNames)[number]>;

export const runStatuses = [
  'queued',
  'running',
  'review',
  'completed',
  'failed',
  'cancelled',
  'superseded',
] as const;
export const runDirections = ['pull', 'push', 'bidirectional'] as const;
export const runStages = ['read', 'match', 'plan', 'review', 'apply', 'verify', 'done'] as const;
export type RunStage = (typeof runStages)[number];
const triggers = ['manual', 'schedule', 'changes', 'undo'] as const;
/** What started a run. */
export type RunTrigger = (typeof triggers)[number];

const count = (description: string) => Type.Integer({ minimum: 0, description });
const counts = (description: string) =>
  Type.Record(Type.String(), Type.Integer({ minimum: 0 }), { description });

/** Figures of a run: what was read, the rows of the plan and their outcomes, and seconds by stage. */
export const RunStats = component('ItsmRunStats', {
  fetched: count('Records read'),
  relations_fetched: count('Relations read'),
  processed: count('Rows of the plan that have ended'),
  created: count('Cards and records created'),
  updated: count('Cards and records changed'),
  deleted: count('Cards archived and records deleted'),
  relations_created: count('Relations created, on either side'),
  relations_deleted: count('Relations deleted, on either side'),
  relations_deferred: Type.Optional(
    count(
      'Relations that were deferred, because they refer to records of a mapping that is paused or cannot run',
    ),
  ),
  skipped: count('Rows that write nothing, and rejected rows'),
  already_open: Type.Optional(count('Rows of the plan that repeat an open review item with the same values')),
  errors: count('Rows that were refused, or stale because a side had changed since the plan'),
  ...optional({
    planned: counts('Rows of the plan by action'),
    applied: counts('Applied rows by action'),
    outcomes: counts('Rows by outcome'),
    findings: count('Applied rows whose result was not found by the verification'),
    seconds: Type.Record(Type.String(), Type.Number(), { description: 'Duration by stage, in seconds' }),
    budget: Nullable(
      object(
        { limit: Type.Number(), remaining: Type.Number(), resets_at: Timestamp },
        {
          description:
            'The remaining request quota of the account at the end of the last stage; null if the remote does not send it',
        },
      ),
    ),
  }),
});
export type RunStats = Partial<Static<typeof RunStats>>;

export class Run extends rowModel('itsm_runs', {
  id: Uuid,
  connection_id: Uuid,
  /** Null once the mapping is deleted. */
  mapping_id: Nullable(Uuid),
  job_id: Nullable(Uuid),
  direction: Choice(runDirections),
  trigger: Choice(triggers),
  status: Choice(runStatuses),
  stage: Choice(runStages),
  complete: Type.Boolean({ description: 'True: a full read; false: only changed records are read' }),
  auto_apply: Type.Boolean(),
  /** The mapping as it was when the run started. */
  mapping: Internal(Type.Unknown()),
  /** Where reading and planning resume. */
  checkpoint: Internal(Type.Unknown()),
  stopped: NullableText('Why the plan was stopped: it exceeds the deletion limit of the mapping'),
  limit_overridden_by: Nullable(Uuid),
  /** Changes of the sync state when all rows have ended. */
  closing: Internal(Type.Unknown()),
  plan_made_at: Internal(Nullable(Timestamp)),
  stats: Type.Unsafe<RunStats>(RunStats),
  remote_calls: Type.Integer({ minimum: 0 }),
  error_code: Text,
  error_message: NullableText('What failed, where, and what to do about it'),
  undo_of: Nullable(Uuid),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  started_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
}) {}
/** A stored run of a mapping that was not deleted. */
export type RunRow = RowOf<typeof Run> & { mapping_id: string };

/**
 * What a row of a plan does.
 * - `create`, `update`, `delete`, `restore`: of a card or a record, on one side; a card is deleted by archiving it.
 * - `link`, `unlink`: creates or ends a pair.
 * - `agree`: both sides have equal values; only the base is updated.
 * - `quarantine`, `release`: begins or ends the quarantine of a pair.
 * - `relate`, `unrelate`: creates or removes a relation, on one side or in the sync state only.
 * - `conflict`, `stage`: a user has to decide on values, or on the card of a record.
 * - `skip`: nothing is done; the reason says why.
 */
export const rowStatuses = ['pending', 'approved', 'rejected', 'applied', 'skipped', 'error'] as const;
export const rowActions = [
  'create',
  'update',
  'delete',
  'restore',
  'link',
  'unlink',
  'agree',
  'quarantine',
  'release',
  'relate',
  'unrelate',
  'conflict',
  'stage',
  'skip',
] as const;

/**
 * The progress of a row. `started`: its write was sent and the response is unknown, so that it is looked up before it is sent
 * again. `stale`: the state that it was planned from has changed, and nothing was written.
 */
export const rowProgress = ['pending', 'started', 'applied', 'stale', 'refused', 'skipped'] as const;

export const pairStates = ['linked', 'quarantined', 'ended', 'unmapped', 'removed'] as const;

/** The columns of a pair that responses contain. */
export const pairColumns = {
  remote_id: Type.String(),
  card_id: Uuid,
  origin: Choice(['pulled', 'pushed', 'linked']),
  state: Choice(pairStates),
  gone: Nullable(Choice(['local', 'remote'])),
  evidence: Nullable(Choice(['tombstone', 'look', 'readings', 'inventory'])),
  since: Nullable(Timestamp),
};

/** The columns of a review item that responses contain as they are stored. */
export const reviewItemColumns = {
  id: Uuid,
  mapping_id: Uuid,
  kind: Choice(['conflict', 'match']),
  remote_id: Text,
  card_id: Nullable(Uuid),
  path: NullableText('The field; null for a removal or a match'),
  run_id: Nullable(Uuid),
  opened_at: Timestamp,
};
