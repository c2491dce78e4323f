import Type from 'typebox';
import { Todo } from '../../../domain/collaboration/collaboration.model.ts';
import {
  cardTodoFilters,
  createTodo,
  deleteTodo,
  listCardTodos,
  listTodos,
  patchTodo,
  promoteTodo,
  todoFilters,
  todoSorts,
} from '../../../domain/collaboration/todos/todos.commands.ts';
import { recurrenceUnits } from '../../../domain/collaboration/todos/todos.rules.ts';
import { Choice, Clearable, component, Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import { listQuery } from '../../schemas.ts';
import type { App } from '../../types.ts';

const {
  topic: _topic,
  subject_id: _subjectId,
  recurrence_day: _recurrenceDay,
  updated_at: _updatedAt,
  ...todoColumns
} = Todo.columns;
const todoMembers = {
  ...todoColumns,
  card_name: Nullable(Type.String({ description: 'Null if the caller does not see the card' })),
  card_type: Nullable(Type.String()),
  assignee_name: Nullable(Type.String()),
};
const TodoSchema = component('Todo', todoMembers);

const Description = Todo.columns.description;
const todoInput = {
  assigned_to: Clearable(Uuid),
  due_date: Clearable(
    Type.String({ format: 'date', pattern: '^(19|2[0-9])[0-9]{2}-', examples: ['2026-03-31'] }),
  ),
  recurrence_unit: Clearable(
    Choice(recurrenceUnits, 'Recurs this unit times the interval after the due date; default `none`'),
  ),
  recurrence_interval: Clearable(Type.Integer({ minimum: 1, maximum: 365 })),
  lead_time_days: Clearable(
    Type.Integer({
      minimum: 0,
      maximum: 3650,
      description:
        'Days before the due date at which it opens. Default: 0, 1, 2, 7 or 14 for none, days, weeks, months and years, at most half of the interval',
    }),
  ),
};
const TodoBody = object({ description: Description, ...todoInput });
const TodoPatchBody = object({
  description: Type.Optional(Description),
  status: Type.Optional(Choice(['open', 'done'])),
  ...todoInput,
});

const changing = {
  permission: 'login',
  permissionNote: 'admin.todos, or scope account for those assigned to or created by the caller',
} as const;
const seeing = { permission: 'login', permissionNote: 'inventory.view or card.view' } as const;

/** To-dos of users. */
export function registerTodoRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'To-dos' });

  routes.get('/api/v1/todos', {
    id: 'listTodos',
    summary: 'List to-dos',
    description: 'By default those assigned to or created by the caller.',
    permission: 'login',
    permissionNote: "admin.todos, or scope account for the caller's own to-dos",
    query: listQuery(todoSorts, 'created_at', todoFilters),
    responses: page('To-dos, newest first', TodoSchema),
    handler: ({ ctx, query }) => listTodos(ctx, query),
  });

  routes.get('/api/v1/cards/:id/todos', {
    id: 'listCardTodos',
    summary: 'List the to-dos of a card',
    ...seeing,
    query: listQuery(todoSorts, 'created_at', cardTodoFilters),
    responses: page('To-dos, newest first', TodoSchema),
    handler: ({ ctx, params, query }) => listCardTodos(ctx, params.id, query),
  });

  routes.post('/api/v1/cards/:id/todos', {
    id: 'createTodo',
    summary: 'Create a to-do on a card',
    description: 'It is open immediately. When a recurring one is done, the next one is created.',
    ...seeing,
    body: TodoBody,
    responses: created('The to-do', TodoSchema),
    handler: async ({ ctx, params, body }) => (await createTodo(ctx, params.id, body)).text,
  });

  routes.patch('/api/v1/todos/:id', {
    id: 'patchTodo',
    summary: 'Change a to-do, or mark it as done',
    description:
      'When a recurring to-do is done, the next one is created: due one interval later, open within its lead time, otherwise scheduled. System to-dos cannot be changed.',
    ...changing,
    body: TodoPatchBody,
    responses: ok('The to-do', TodoSchema, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchTodo(ctx, params.id, body),
  });

  routes.delete('/api/v1/todos/:id', {
    id: 'deleteTodo',
    summary: 'Delete a to-do',
    description: 'A recurring to-do ends with it.',
    ...changing,
    ifMatch: true,
    handler: ({ ctx, params }) => deleteTodo(ctx, params.id),
  });

  routes.post('/api/v1/todos/:id/promote', {
    id: 'promoteTodo',
    summary: 'Open a scheduled to-do early',
    ...changing,
    ifMatch: true,
    responses: ok('The to-do', TodoSchema, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => promoteTodo(ctx, params.id),
  });
}
