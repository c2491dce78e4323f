import Type from 'typebox';
import {
  pairColumns,
  Run,
  reviewItemColumns,
  rowActions,
  rowProgress,
  rowStatuses,
  runStages,
} from '../../../domain/exchange/itsm/itsm.model.ts';
import {
  arrayOf,
  Choice,
  itemComponent,
  Nullable,
  NullableText,
  NumberIn,
  object,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';

const Count = Type.Integer({ minimum: 0 });

export const ItsmRunSchema = itemComponent('ItsmRun', {
  ...Run.shown.columns,
  progress: Nullable(NumberIn(0, 1, 'The progress of its job; null if the job was deleted')),
  planned_at: Nullable(Timestamp),
});

const Candidates = arrayOf(
  { card_id: Uuid, card_name: Nullable(Type.String()), score: Type.Number(), why: Type.String() },
  { description: 'Cards that may be the same object as the record' },
);

const END = 'The key of the record; null as long as the same run has yet to create it';
const Link = object(
  {
    relation_type_key: Type.String(),
    relation_id: NullableText('The remote’s key of the relation'),
    source: NullableText(END),
    source_name: Nullable(Type.String()),
    target: NullableText(END),
    target_name: Nullable(Type.String()),
  },
  { description: 'The relation' },
);

export const ItsmPlanRowSchema = itemComponent('ItsmPlanRow', {
  id: Type.String(),
  no: Count,
  action: Choice(rowActions),
  side: Nullable(Choice(['local', 'remote'])),
  remote_id: Nullable(Type.String()),
  card_id: Nullable(Uuid),
  name: NullableText('Of the card, or of the record'),
  reason: Nullable(Type.String()),
  diff: Type.Record(Type.String(), Type.Object({ old: Type.Unknown(), new: Type.Unknown() }), {
    description:
      'By field, the values of the side that is written. Of a conflict: the card’s value and the record’s value. Of a record to be matched: its values',
  }),
  remote_data: Nullable(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'By field, the current or future value of the record, in the format of the remote',
    }),
  ),
  path: Nullable(Type.String()),
  needs: Nullable(Type.Integer({ description: 'The row that has to be applied first' })),
  candidates: Candidates,
  link: Nullable(Link),
  status: Choice(rowStatuses),
  outcome: Choice(
    rowProgress,
    'The result of applying the row. `stale`: a side has changed since the plan; `skipped`: the row writes nothing, or was rejected and the run has ended',
  ),
  approval: Nullable(Choice(['approved', 'rejected'])),
  decided_by: Nullable(Uuid),
  error_message: Nullable(Type.String()),
  note: NullableText('Of an applied row: values that were not written, or what an undone deletion restored'),
  made_id: NullableText('The key of the created record or relation, or the id of the created card'),
  open_since: Nullable(Timestamp),
  created_at: Nullable(Timestamp),
  ended_at: Nullable(Timestamp),
});

export const ItsmRunLogLineSchema = itemComponent('ItsmRunLogLine', {
  id: Type.String(),
  at: Timestamp,
  level: Choice(['info', 'warning', 'error']),
  stage: Choice(runStages),
  message: Type.String(),
});

export const ItsmQuestionSchema = itemComponent('ItsmQuestion', {
  ...reviewItemColumns,
  card_name: Nullable(Type.String()),
  record_name: NullableText('Of a match: the name of the record'),
  local: Type.Unknown(),
  remote: Type.Unknown({ description: 'Of a match: the values of the record, by field' }),
  reason: Nullable(Type.String()),
  candidates: Candidates,
});

export const ItsmPairSchema = itemComponent('ItsmPair', pairColumns);
