import Type from 'typebox';
import { recurrenceUnits } from '../../domain/collaboration/todos/todos.rules.ts';
import { MitigationTask, Occurrence, Text, Title } from '../../domain/governance/risks/risks.model.ts';
import { NEWEST_OCCURRENCES } from '../../domain/governance/risks/tasks.list.ts';
import { Choice, DateOnly, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';
import { answersOf, bodiesOf } from './common.ts';

const { recurrence_day: _internal, ...occurrenceColumns } = Occurrence.columns;
const occurrence = {
  ...occurrenceColumns,
  assigned_owner_name: Nullable(Type.String()),
  completed_by_name: Nullable(Type.String()),
  owner_at_completion_name: Nullable(Type.String()),
};
const occurrenceAnswers = answersOf('MitigationTaskOccurrence', occurrence);
const OccurrenceSchema = occurrenceAnswers.whole;
export const OccurrenceItemSchema = occurrenceAnswers.item;

const task = {
  ...MitigationTask.columns,
  risk_reference: Type.String(),
  risk_title: Type.String(),
  owner_name: Nullable(Type.String()),
  occurrences: Type.Array(OccurrenceSchema, {
    description: `The newest ${NEWEST_OCCURRENCES}, oldest first`,
  }),
};
const answers = answersOf('MitigationTask', task);
export const TaskSchema = answers.whole;
export const TaskItemSchema = answers.item;

const bodies = bodiesOf(
  { title: Title },
  {
    description: Nullable(Text),
    owner_id: Nullable(Type.String({ ...Uuid, description: 'An active user' })),
    due_date: Nullable(Type.String({ ...DateOnly, description: 'The due date of the current occurrence' })),
    recurrence_unit: Choice(recurrenceUnits, 'Default `none`: it does not recur'),
    recurrence_interval: MitigationTask.columns.recurrence_interval,
    lead_time_days: Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 3650,
        description:
          'How many days before its due date an occurrence opens. By default 14 for a task that does not recur; otherwise 1, 2, 7 or 14 by its unit, at most half of the interval',
      }),
    ),
  },
);
export const TaskCreateBody = bodies.create;
export const TaskPatchBody = object({
  ...bodies.patch.properties,
  is_active: Type.Optional(Type.Boolean()),
});
/** Optional. */
export const EndBody = Type.Unsafe<{ notes?: string | null } | null | undefined>({
  ...object({ notes: Type.Optional(Nullable(Text)) }),
  type: ['object', 'null'],
});
