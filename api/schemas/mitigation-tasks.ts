import Type from 'typebox';
import { recurrenceUnits } from '../../domain/collaboration/todos/todos.rules.ts';
import { MitigationTask, Occurrence, Text, Title } from '../../domain/governance/risks/risks.model.ts';
import { NEWEST_OCCURRENCES } from '../../domain/governance/risks/tasks.list.ts';
import { Choice, closed, DateOnly, Nullable, Uuid } from '../../domain/kernel/shapes.ts';

const { recurrence_day: _internal, ...occurrenceColumns } = Occurrence.columns;
const occurrence = {
  ...occurrenceColumns,
  assigned_owner_name: Nullable(Type.String()),
  completed_by_name: Nullable(Type.String()),
  owner_at_completion_name: Nullable(Type.String()),
};
export const OccurrenceSchema = Type.Object(occurrence, { $id: 'MitigationTaskOccurrence', ...closed });
export const OccurrenceItemSchema = Type.Partial(Type.Object(occurrence), {
  $id: 'MitigationTaskOccurrenceItem',
  ...closed,
});

const task = {
  ...MitigationTask.columns,
  risk_reference: Type.String(),
  risk_title: Type.String(),
  owner_name: Nullable(Type.String()),
  occurrences: Type.Array(Type.Ref('MitigationTaskOccurrence#'), {
    description: `The newest ${NEWEST_OCCURRENCES}, oldest first`,
  }),
};
export const TaskSchema = Type.Object(task, { $id: 'MitigationTask', ...closed });
export const TaskItemSchema = Type.Partial(Type.Object(task), { $id: 'MitigationTaskItem', ...closed });

const values = {
  description: Type.Optional(Nullable(Text)),
  owner_id: Type.Optional(Nullable(Type.String({ ...Uuid, description: 'An active user' }))),
  due_date: Type.Optional(
    Nullable(Type.String({ ...DateOnly, description: 'Of the occurrence that is waited for' })),
  ),
  recurrence_unit: Type.Optional(Choice(recurrenceUnits, 'Default `none`: it does not recur')),
  recurrence_interval: Type.Optional(MitigationTask.columns.recurrence_interval),
  lead_time_days: Type.Optional(
    Nullable(
      Type.Integer({
        minimum: 0,
        maximum: 3650,
        description:
          'How many days before it is due an occurrence opens; unless told 14, and for one that recurs by its unit 1, 2, 7 or 14, at most half of the interval',
      }),
    ),
  ),
};
export const TaskCreateBody = Type.Object({ title: Title, ...values }, closed);
export const TaskPatchBody = Type.Object(
  { title: Type.Optional(Title), ...values, is_active: Type.Optional(Type.Boolean()) },
  closed,
);
/** May be left out. */
export const EndBody = Type.Unsafe<{ notes?: string | null } | null | undefined>({
  ...Type.Object({ notes: Type.Optional(Nullable(Text)) }, closed),
  type: ['object', 'null'],
});
