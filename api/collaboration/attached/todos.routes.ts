import Type from 'typebox';
import { Todo } from '../../../domain/collaboration/collaboration.model.ts';
import {
  cardTodoList,
  createTodo,
  deleteTodo,
  patchTodo,
  promoteTodo,
  TodoBody,
  TodoPatchBody,
  todoList,
} from '../../../domain/collaboration/todos/todos.commands.ts';
import { component, Nullable, NullableText } from '../../../domain/kernel/shapes.ts';
import { created, ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const todoMembers = {
  ...Todo.shown.columns,
  card_name: NullableText('Null if the caller does not see the card'),
  card_type: Nullable(Type.String()),
  assignee_name: Nullable(Type.String()),
};
const TodoSchema = component('Todo', todoMembers);

const changing = {
  permission: 'login',
  permissionNote: 'admin.todos, or scope account for those assigned to or created by the caller',
} as const;
const seeing = { permission: 'login', permissionNote: 'inventory.view or card.view' } as const;

/** To-dos of users. */
export function registerTodoRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'To-dos' });

  routes.list('listTodos', '/api/v1/todos', todoList, {
    summary: 'List to-dos',
    description: 'By default those assigned to or created by the caller.',
    permission: 'login',
    permissionNote: "admin.todos, or scope account for the caller's own to-dos",
    responses: page('To-dos, newest first', TodoSchema),
  });

  routes.post('createTodoWithoutCard', '/api/v1/todos', {
    summary: 'Create a to-do without a card',
    description:
      'Its creator and its assignee see it. It is open immediately. When a recurring one is done, the next one is created.',
    permission: 'login',
    scope: 'account',
    permissionNote: 'inventory.view to assign it to another user',
    body: TodoBody,
    responses: created('The to-do', TodoSchema),
    handler: async ({ ctx, body }) => (await createTodo(ctx, null, body)).text,
  });

  routes.list('listCardTodos', '/api/v1/cards/:id/todos', cardTodoList, {
    summary: 'List the to-dos of a card',
    ...seeing,
    responses: page('To-dos, newest first', TodoSchema),
  });

  routes.post('createTodo', '/api/v1/cards/:id/todos', {
    summary: 'Create a to-do on a card',
    description: 'It is open immediately. When a recurring one is done, the next one is created.',
    ...seeing,
    body: TodoBody,
    responses: created('The to-do', TodoSchema),
    handler: async ({ ctx, params, body }) => (await createTodo(ctx, params.id, body)).text,
  });

  routes.patch('patchTodo', '/api/v1/todos/:id', {
    summary: 'Change a to-do, or mark it as done',
    description:
      'When a recurring to-do is done, the next one is created: due one interval later, open within its lead time, otherwise scheduled. System to-dos cannot be changed.',
    ...changing,
    body: TodoPatchBody,
    responses: ok('The to-do', TodoSchema, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchTodo(ctx, params.id, body),
  });

  routes.delete('deleteTodo', '/api/v1/todos/:id', {
    summary: 'Delete a to-do',
    description: 'A recurring to-do ends with it.',
    ...changing,
    ifMatch: true,
    handler: ({ ctx, params }) => deleteTodo(ctx, params.id),
  });

  routes.post('promoteTodo', '/api/v1/todos/:id/promote', {
    summary: 'Open a scheduled to-do early',
    ...changing,
    ifMatch: true,
    responses: ok('The to-do', TodoSchema, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => promoteTodo(ctx, params.id),
  });
}
