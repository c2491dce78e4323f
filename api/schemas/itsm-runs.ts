import Type from 'typebox';
import { closed, Nullable, Timestamp, Uuid } from '../../domain/kernel/shapes.ts';

const literals = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));

export const runStatuses = ['queued', 'running', 'review', 'completed', 'failed', 'cancelled', 'superseded'];
export const runDirections = ['pull', 'push', 'bidirectional'];
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
];
export const rowStatuses = ['pending', 'approved', 'rejected', 'applied', 'skipped', 'error'];

const stages = ['read', 'match', 'plan', 'review', 'apply', 'verify', 'done'];
const Count = Type.Integer({ minimum: 0 });

const ItsmRunStatsSchema = Type.Object(
  {
    fetched: Type.Integer({ minimum: 0, description: 'Records that were read' }),
    relations_fetched: Type.Integer({ minimum: 0, description: 'Relations that were read' }),
    processed: Type.Integer({ minimum: 0, description: 'Rows of the plan that have ended' }),
    created: Type.Integer({ minimum: 0, description: 'Cards and records that were made' }),
    updated: Type.Integer({ minimum: 0, description: 'Cards and records that were changed' }),
    deleted: Type.Integer({
      minimum: 0,
      description: 'Cards that were archived, and records that were deleted',
    }),
    relations_created: Type.Integer({ minimum: 0, description: 'Relations that were made, on either side' }),
    relations_deleted: Type.Integer({ minimum: 0, description: 'Relations that were taken away' }),
    relations_waiting: Type.Optional(
      Type.Integer({
        minimum: 0,
        description:
          'Relations that wait, since they lead to records of a mapping that is paused or cannot run',
      }),
    ),
    skipped: Type.Integer({ minimum: 0, description: 'Rows that only tell, and those that were rejected' }),
    already_open: Type.Optional(
      Type.Integer({
        minimum: 0,
        description: 'Rows of the plan that repeat a question which was open before with the same values',
      }),
    ),
    errors: Type.Integer({ minimum: 0, description: 'Rows that were refused, or no longer fitted' }),
    planned: Type.Optional(Type.Record(Type.String(), Count, { description: 'Rows of the plan by action' })),
    applied: Type.Optional(
      Type.Record(Type.String(), Count, { description: 'Those of them that were applied, by action' }),
    ),
    outcomes: Type.Optional(Type.Record(Type.String(), Count, { description: 'Rows by how they ended' })),
    findings: Type.Optional(
      Type.Integer({ minimum: 0, description: 'Applied rows that were found otherwise afterwards' }),
    ),
    seconds: Type.Optional(
      Type.Record(Type.String(), Type.Number(), { description: 'Time by stage, in seconds' }),
    ),
    budget: Type.Optional(
      Nullable(
        Type.Object(
          { limit: Type.Number(), remaining: Type.Number(), resets_at: Timestamp },
          {
            ...closed,
            description:
              'Requests that the account had left when the last stage ended; null where the remote does not tell',
          },
        ),
      ),
    ),
  },
  { $id: 'ItsmRunStats', ...closed },
);

export const ItsmRunSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    connection_id: Uuid,
    mapping_id: Nullable(Uuid),
    job_id: Nullable(Uuid),
    direction: literals(...runDirections),
    trigger: literals('manual', 'schedule', 'changes', 'undo'),
    status: literals(...runStatuses),
    stage: literals(...stages),
    progress: Nullable(
      Type.Number({
        minimum: 0,
        maximum: 1,
        description: 'How far its job has come; null once that is gone',
      }),
    ),
    complete: Type.Boolean({ description: 'Everything is read, or what has changed' }),
    auto_apply: Type.Boolean(),
    stopped: Nullable(
      Type.String({ description: 'Why the plan was stopped: it exceeds the deletion limit of the mapping' }),
    ),
    limit_overridden_by: Nullable(Uuid),
    stats: ItsmRunStatsSchema,
    remote_calls: Count,
    error_code: Nullable(Type.String()),
    error_message: Nullable(Type.String({ description: 'What failed, where, and what to do' })),
    undo_of: Nullable(Uuid),
    created_by: Nullable(Uuid),
    created_at: Timestamp,
    started_at: Nullable(Timestamp),
    planned_at: Nullable(Timestamp),
    completed_at: Nullable(Timestamp),
  }),
  { $id: 'ItsmRun', ...closed },
);

const Candidates = Type.Array(
  Type.Object(
    { card_id: Uuid, card_name: Nullable(Type.String()), score: Type.Number(), why: Type.String() },
    closed,
  ),
  { description: 'Cards that the record may be' },
);

const END = 'The key of the record; null while the same run is to make it';
const Link = Type.Object(
  {
    relation_type_key: Type.String(),
    relation_id: Nullable(Type.String({ description: 'The remote’s key of it' })),
    source: Nullable(Type.String({ description: END })),
    source_name: Nullable(Type.String()),
    target: Nullable(Type.String({ description: END })),
    target_name: Nullable(Type.String()),
  },
  { ...closed, description: 'The relation' },
);

export const ItsmPlanRowSchema = Type.Partial(
  Type.Object({
    id: Type.String(),
    no: Count,
    action: literals(...rowActions),
    side: Nullable(literals('local', 'remote')),
    remote_id: Nullable(Type.String()),
    card_id: Nullable(Uuid),
    name: Nullable(Type.String({ description: 'Of the card, or of the record' })),
    reason: Nullable(Type.String()),
    diff: Type.Record(Type.String(), Type.Object({ old: Type.Unknown(), new: Type.Unknown() }), {
      description:
        'By field, in the words of the side that is written; of a conflict: here and outside; of a record to be matched: what it says',
    }),
    remote_data: Nullable(
      Type.Record(Type.String(), Type.Unknown(), {
        description: 'By field, what the record holds, or is going to, as the remote tells it',
      }),
    ),
    path: Nullable(Type.String()),
    needs: Nullable(Type.Integer({ description: 'The row that has to be applied before' })),
    candidates: Candidates,
    link: Nullable(Link),
    status: literals(...rowStatuses),
    outcome: Type.Union(
      ['pending', 'begun', 'applied', 'stale', 'refused', 'skipped'].map((outcome) => Type.Literal(outcome)),
      {
        description:
          'What applying the row did. `skipped`: the row writes nothing, or was rejected and the run has ended',
      },
    ),
    approval: Nullable(literals('approved', 'rejected')),
    decided_by: Nullable(Uuid),
    error_message: Nullable(Type.String()),
    note: Nullable(
      Type.String({
        description: 'Of an applied row: what was left out, or what came back with a deletion undone',
      }),
    ),
    made_id: Nullable(Type.String({ description: 'The key of what was made' })),
    open_since: Nullable(Timestamp),
    created_at: Nullable(Timestamp),
    ended_at: Nullable(Timestamp),
  }),
  { $id: 'ItsmPlanRow', ...closed },
);

export const ItsmRunLogLineSchema = Type.Partial(
  Type.Object({
    id: Type.String(),
    at: Timestamp,
    level: literals('info', 'warning', 'error'),
    stage: literals(...stages),
    message: Type.String(),
  }),
  { $id: 'ItsmRunLogLine', ...closed },
);

export const ItsmQuestionSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    mapping_id: Uuid,
    kind: literals('conflict', 'match'),
    remote_id: Nullable(Type.String()),
    card_id: Nullable(Uuid),
    card_name: Nullable(Type.String()),
    record_name: Nullable(Type.String({ description: 'Of a record to be matched' })),
    path: Nullable(Type.String({ description: 'The field; null for a removal or a match' })),
    local: Type.Unknown(),
    remote: Type.Unknown({ description: 'Of a match: what the record says, by field' }),
    reason: Nullable(Type.String()),
    candidates: Candidates,
    run_id: Nullable(Uuid),
    opened_at: Timestamp,
  }),
  { $id: 'ItsmQuestion', ...closed },
);

export const ItsmPairSchema = Type.Partial(
  Type.Object({
    remote_id: Type.String(),
    card_id: Uuid,
    origin: literals('pulled', 'pushed', 'linked'),
    state: literals('linked', 'quarantined', 'ended', 'unmapped', 'removed'),
    gone: Nullable(literals('local', 'remote')),
    evidence: Nullable(literals('tombstone', 'look', 'readings', 'inventory')),
    since: Nullable(Timestamp),
  }),
  { $id: 'ItsmPair', ...closed },
);
