import Type from 'typebox';
import { Internal, type RowOf, rowModel, SqlArray } from '../kernel/resources/rows.ts';
import { Choice, DateOnly, Nullable, Timestamp, Uuid } from '../kernel/shapes.ts';
import { recurrenceUnits, todoStates } from './todos/todos.rules.ts';

/** A role that a user has on a card. */
export class Stakeholder extends rowModel('stakeholders', {
  id: Uuid,
  card_id: Uuid,
  user_id: Uuid,
  role: Type.String(),
  created_at: Timestamp,
}) {}
export type StakeholderRow = RowOf<typeof Stakeholder>;

/** The greatest depth of nested replies. */
export const MAX_DEPTH = 10;

export class Comment extends rowModel('comments', {
  id: Uuid,
  card_id: Uuid,
  user_id: Uuid,
  parent_id: Nullable(Uuid),
  /** The first comment of the thread; its own id there. */
  thread_id: Internal(Uuid),
  /** 0: first comment of a thread. */
  depth: Internal(Type.Integer({ minimum: 0, maximum: MAX_DEPTH })),
  content: Type.String({ maxLength: 10_000, description: 'Plain text as typed, not markup' }),
  mentions: SqlArray(Uuid, { description: 'The users that it mentions' }),
  deleted_at: Internal(Nullable(Timestamp)),
  created_at: Timestamp,
  updated_at: Timestamp,
}) {}
export type CommentRow = RowOf<typeof Comment>;

export class Todo extends rowModel('todos', {
  id: Uuid,
  card_id: Nullable(Uuid),
  description: Type.String({ minLength: 1, maxLength: 5000 }),
  status: Choice(todoStates),
  link: Nullable(
    Type.String({ maxLength: 2000, pattern: '^/[^/\\\\]', description: 'A page of the application' }),
  ),
  is_system: Type.Boolean({ description: 'Opened and closed by the service itself' }),
  /** What a system to-do is about: a topic, and the id of an object. */
  topic: Internal(Nullable(Type.String())),
  subject_id: Internal(Nullable(Uuid)),
  assigned_to: Nullable(Uuid),
  created_by: Nullable(Uuid),
  due_date: Nullable(DateOnly),
  series_id: Nullable(Uuid),
  recurrence_unit: Choice(recurrenceUnits),
  recurrence_interval: Type.Integer({ minimum: 1, maximum: 365 }),
  lead_time_days: Type.Integer({ minimum: 0, maximum: 3650 }),
  /** The day of the month of a series, also after a shorter month. */
  recurrence_day: Internal(Nullable(Type.Integer({ minimum: 1, maximum: 31 }))),
  created_at: Timestamp,
  updated_at: Internal(Timestamp),
}) {}
export type TodoRow = RowOf<typeof Todo>;

/** A link on a card. */
export class Document extends rowModel('documents', {
  id: Uuid,
  card_id: Uuid,
  name: Type.String({ minLength: 1, maxLength: 500 }),
  url: Nullable(Type.String({ maxLength: 2000 })),
  type: Type.String({ minLength: 1, maxLength: 100 }),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
}) {}
export type DocumentRow = RowOf<typeof Document>;

/** A file on a card. */
export class FileAttachment extends rowModel('file_attachments', {
  id: Uuid,
  card_id: Uuid,
  /** The content, which is deleted some time after the attachment. */
  file_id: Internal(Uuid),
  name: Type.String(),
  mime_type: Type.String(),
  size: Type.Integer({ minimum: 0, description: 'Bytes' }),
  category: Nullable(Type.String()),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
}) {}
export type AttachmentRow = RowOf<typeof FileAttachment>;
