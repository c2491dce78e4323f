import Type from 'typebox';
import { recurrenceUnits } from '../../domain/collaboration/todos/todos.rules.ts';
import { occurrenceStatuses } from '../../domain/governance/risks/risks.types.ts';
import { NEWEST_OCCURRENCES } from '../../domain/governance/risks/tasks.list.ts';
import { closed, DateOnly, Nullable, Uuid } from '../../domain/kernel/shapes.ts';
import { Timestamp } from './common.ts';
import { oneOf, Text, Title } from './risks.ts';

const Interval = Type.Integer({ minimum: 1, maximum: 365 });
const Lead = Type.Integer({ minimum: 0, maximum: 3650, description: 'Days before the due date' });

const occurrence = {
  id: Uuid,
  task_id: Uuid,
  sequence: Type.Integer({ minimum: 1 }),
  assigned_owner_id: Nullable(Uuid),
  assigned_owner_name: Nullable(Type.String()),
  due_date: Nullable(DateOnly),
  status: oneOf(occurrenceStatuses),
  activated_at: Nullable(Timestamp),
  completed_at: Nullable(Timestamp),
  completed_by: Nullable(Uuid),
  completed_by_name: Nullable(Type.String()),
  owner_at_completion: Nullable(Uuid),
  owner_at_completion_name: Nullable(Type.String()),
  completion_notes: Nullable(Type.String()),
  created_at: Timestamp,
  updated_at: Timestamp,
};
export const OccurrenceSchema = Type.Object(occurrence, { $id: 'MitigationTaskOccurrence', ...closed });
export const OccurrenceItemSchema = Type.Partial(Type.Object(occurrence), {
  $id: 'MitigationTaskOccurrenceItem',
  ...closed,
});

const task = {
  id: Uuid,
  reference: Type.String({ examples: ['T-000007'] }),
  risk_id: Uuid,
  risk_reference: Type.String(),
  risk_title: Type.String(),
  title: Type.String(),
  description: Nullable(Type.String()),
  owner_id: Nullable(Uuid),
  owner_name: Nullable(Type.String()),
  recurrence_unit: oneOf(recurrenceUnits),
  recurrence_interval: Interval,
  lead_time_days: Lead,
  is_active: Type.Boolean({ description: 'Whether it goes on recurring, and opens by itself' }),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
  updated_at: Timestamp,
  occurrences: Type.Array(Type.Ref('MitigationTaskOccurrence#'), {
    description: `The newest ${NEWEST_OCCURRENCES}, oldest first`,
  }),
};
export const TaskSchema = Type.Object(task, { $id: 'MitigationTask', ...closed });
export const TaskItemSchema = Type.Partial(Type.Object(task), { $id: 'MitigationTaskItem', ...closed });

export const taskSorts = ['created_at', 'updated_at', 'reference', 'risk_reference', 'title', 'owner_name'];
export const occurrenceSorts = ['sequence', 'due_date', 'status'];

const values = {
  description: Type.Optional(Nullable(Text)),
  owner_id: Type.Optional(Nullable(Type.String({ ...Uuid, description: 'An active user' }))),
  due_date: Type.Optional(
    Nullable(Type.String({ ...DateOnly, description: 'Of the occurrence that is waited for' })),
  ),
  recurrence_unit: Type.Optional(oneOf(recurrenceUnits, 'Default `none`: it does not recur')),
  recurrence_interval: Type.Optional(Interval),
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
