import Type from 'typebox';
import {
  Comment,
  Document,
  FileAttachment,
  Stakeholder,
  Todo,
} from '../../domain/collaboration/collaboration.model.ts';
import { recurrenceUnits } from '../../domain/collaboration/todos/todos.rules.ts';
import { closed, component, itemComponent, Nullable, object, Uuid } from '../../domain/kernel/shapes.ts';

const stakeholder = {
  ...Stakeholder.columns,
  user_display_name: Type.String(),
  user_email: Type.String(),
  role_label: Type.String({ description: 'The key if the type no longer has the role' }),
};
export const StakeholderSchema = component('Stakeholder', stakeholder);
export const StakeholderItemSchema = itemComponent('StakeholderItem', stakeholder);

export const RoleKeySchema = itemComponent('StakeholderRoleKey', {
  key: Type.String(),
  label: Type.String(),
  translations: Type.Record(Type.String(), Type.Unknown()),
});

const RoleKey = Type.String({ minLength: 1, maxLength: 100 });
export const StakeholderBody = object({ user_id: Uuid, role: RoleKey });
export const StakeholderPatchBody = object({
  user_id: Type.Optional(Type.String({ ...Uuid, description: 'Optional; cannot be changed' })),
  role: RoleKey,
});

export const ObservingSchema = object({
  is_observer: Type.Boolean(),
  observer_role_available: Type.Boolean(),
});

const { thread_id: _threadId, depth: _depth, deleted_at: _deletedAt, ...commentColumns } = Comment.columns;
const comment = {
  ...commentColumns,
  user_display_name: Type.String(),
  is_deleted: Type.Boolean({ description: 'Deleted and empty, but retained for its replies' }),
  replies: Type.Array(Type.Ref('Comment#'), { description: 'Oldest first, each with its own replies' }),
};
export const CommentSchema = component('Comment', comment);
export const CommentItemSchema = itemComponent('CommentItem', comment);

const Content = Type.String({
  minLength: 1,
  maxLength: 10_000,
  description: 'Plain text. `@[Name](user:<id>)` mentions a user, who is notified.',
});
export const CommentBody = object({
  content: Content,
  parent_id: Type.Optional(
    Type.Unsafe<string | null>({
      ...Uuid,
      type: ['string', 'null'],
      description: 'The comment to which it replies',
    }),
  ),
});
export const CommentPatchBody = object({ content: Type.Optional(Content) });

const {
  topic: _topic,
  subject_id: _subjectId,
  recurrence_day: _recurrenceDay,
  updated_at: _updatedAt,
  ...todoColumns
} = Todo.columns;
const todo = {
  ...todoColumns,
  card_name: Nullable(Type.String({ description: 'Null if the caller does not see the card' })),
  card_type: Nullable(Type.String()),
  assignee_name: Nullable(Type.String()),
};
export const TodoSchema = component('Todo', todo);
export const TodoItemSchema = itemComponent('TodoItem', todo);

const Description = Todo.columns.description;
const todoInput = {
  assigned_to: Type.Optional(Type.Unsafe<string | null>({ ...Uuid, type: ['string', 'null'] })),
  due_date: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date',
      pattern: '^(19|2[0-9])[0-9]{2}-',
      examples: ['2026-03-31'],
    }),
  ),
  recurrence_unit: Type.Optional(
    Type.Unsafe<(typeof recurrenceUnits)[number] | null>({
      type: ['string', 'null'],
      enum: [...recurrenceUnits, null],
      description: 'Recurs this unit times the interval after the due date; default `none`',
    }),
  ),
  recurrence_interval: Type.Optional(
    Type.Unsafe<number | null>({ type: ['integer', 'null'], minimum: 1, maximum: 365 }),
  ),
  lead_time_days: Type.Optional(
    Type.Unsafe<number | null>({
      type: ['integer', 'null'],
      minimum: 0,
      maximum: 3650,
      description:
        'Days before the due date at which it opens. Default: 0, 1, 2, 7 or 14 for none, days, weeks, months and years, at most half of the interval',
    }),
  ),
};
export const TodoBody = object({ description: Description, ...todoInput });
export const TodoPatchBody = object({
  description: Type.Optional(Description),
  status: Type.Optional(Type.Union([Type.Literal('open'), Type.Literal('done')])),
  ...todoInput,
});
export const DocumentSchema = component('Document', Document.columns);
export const DocumentItemSchema = Type.Partial(DocumentSchema, { $id: 'DocumentItem', ...closed });

export const DocumentBody = object({
  name: Document.columns.name,
  url: Type.Optional(
    Type.Unsafe<string | null>({
      type: ['string', 'null'],
      minLength: 1,
      maxLength: 2000,
      description: 'With http, https or mailto',
      examples: ['https://wiki.example.com/claims'],
    }),
  ),
  type: Type.String({
    ...Document.columns.type,
    default: 'link',
    description: 'An enabled link type, or `link`',
  }),
});

const { file_id: _fileId, ...fileColumns } = FileAttachment.columns;
const file = {
  ...fileColumns,
  created_by_name: Nullable(Type.String()),
};
export const FileAttachmentSchema = component('FileAttachment', file);
export const FileAttachmentItemSchema = itemComponent('FileAttachmentItem', file);
/** The fields of the upload form. */
export const FileForm = object({
  file: Type.String({ format: 'binary' }),
  category: Type.Optional(Type.String({ maxLength: 100, description: 'An enabled file category' })),
});
