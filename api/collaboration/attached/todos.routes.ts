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
import { created, ok, page, routesOf } from '../../operation.ts';
import * as schemas from '../../schemas/collaboration.ts';
import { listQuery } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

const todo = schemas.TodoSchema;
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
    answers: page('To-dos, newest first', schemas.TodoItemSchema),
    handler: ({ ctx, query }) => listTodos(ctx, query),
  });

  routes.get('/api/v1/cards/:id/todos', {
    id: 'listCardTodos',
    summary: 'List the to-dos of a card',
    ...seeing,
    query: listQuery(todoSorts, 'created_at', cardTodoFilters),
    answers: page('To-dos, newest first', schemas.TodoItemSchema),
    handler: ({ ctx, params, query }) => listCardTodos(ctx, params.id, query),
  });

  routes.post('/api/v1/cards/:id/todos', {
    id: 'createTodo',
    summary: 'Create a to-do on a card',
    description: 'It is open immediately. When a recurring one is done, the next one is created.',
    ...seeing,
    body: schemas.TodoBody,

    answers: created('The to-do', todo),
    handler: async ({ ctx, params, body }) => (await createTodo(ctx, params.id, body)).text,
  });

  routes.patch('/api/v1/todos/:id', {
    id: 'patchTodo',
    summary: 'Change a to-do, or mark it as done',
    description:
      'When a recurring to-do is done, the next one is created: due one interval later, open within its lead time, otherwise scheduled. System to-dos cannot be changed.',
    ...changing,
    headers: ['If-Match'],
    body: schemas.TodoPatchBody,

    answers: ok('The to-do', todo, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params, body }) => patchTodo(ctx, params.id, body),
  });

  routes.delete('/api/v1/todos/:id', {
    id: 'deleteTodo',
    summary: 'Delete a to-do',
    description: 'A recurring to-do ends with it.',
    ...changing,
    headers: ['If-Match'],
    handler: ({ ctx, params }) => deleteTodo(ctx, params.id),
  });

  routes.post('/api/v1/todos/:id/promote', {
    id: 'promoteTodo',
    summary: 'Open a scheduled to-do early',
    ...changing,
    headers: ['If-Match'],
    answers: ok('The to-do', todo, 'ETag'),
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => promoteTodo(ctx, params.id),
  });
}
