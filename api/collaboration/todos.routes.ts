import Type from 'typebox';
import {
  createTodo,
  deleteTodo,
  patchTodo,
  promoteTodo,
} from '../../domain/collaboration/todos/todos.commands.ts';
import {
  cardTodoFilters,
  listCardTodos,
  listTodos,
  todoFilters,
  todoSorts,
} from '../../domain/collaboration/todos/todos.list.ts';
import { sendJson, sendResource } from '../json.ts';
import { operation } from '../operation.ts';
import examples from '../schemas/collaboration.examples.json' with { type: 'json' };
import * as schemas from '../schemas/collaboration.ts';
import { IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'To-dos';
const todo = Type.Ref('Todo#');
const example = examples.todo;
const changing = {
  permission: 'login',
  permissionNote: 'admin.todos, or scope account for those assigned to or created by the caller',
} as const;
const seeing = { permission: 'login', permissionNote: 'inventory.view or card.view' } as const;

/** To-dos of users. */
export function registerTodoRoutes(app: App): void {
  app.addSchema(schemas.TodoSchema);
  app.addSchema(schemas.TodoItemSchema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/todos',
    id: 'listTodos',
    tag,
    summary: 'List to-dos',
    description: 'By default those assigned to or created by the caller.',
    permission: 'login',
    permissionNote: "admin.todos, or scope account for the caller's own to-dos",
    query: listQuery(todoSorts, 'created_at', todoFilters),
    answers: {
      200: { description: 'To-dos, newest first', schema: listAnswer(Type.Ref('TodoItem#')) },
    },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listTodos(ctx, query)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/cards/:id/todos',
    id: 'listCardTodos',
    tag,
    summary: 'List the to-dos of a card',
    ...seeing,
    params: IdParams,
    query: listQuery(todoSorts, 'created_at', cardTodoFilters),
    answers: {
      200: { description: 'To-dos, newest first', schema: listAnswer(Type.Ref('TodoItem#')) },
    },
    handler: async ({ ctx, params, query, reply }) =>
      sendJson(reply, await listCardTodos(ctx, params.id, query)),
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/cards/:id/todos',
    id: 'createTodo',
    tag,
    summary: 'Create a to-do on a card',
    description: 'It is open at once. When a recurring one is done, the next one is created.',
    ...seeing,
    params: IdParams,
    body: schemas.TodoBody,
    bodyExample: {
      description: 'Review the licences',
      assigned_to: example.assigned_to,
      due_date: '2026-03-31',
      recurrence_unit: 'months',
      recurrence_interval: 3,
    },
    answers: { 201: { description: 'The to-do', schema: todo, example, headers: ['ETag'] } },
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply.code(201), (await createTodo(ctx, params.id, body)).text),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/todos/:id',
    id: 'patchTodo',
    tag,
    summary: 'Change a to-do, or mark it as done',
    description:
      'When a recurring to-do is done, the next one is created: due one interval later, open within its lead time, otherwise scheduled. System to-dos cannot be changed.',
    ...changing,
    params: IdParams,
    headers: ['If-Match'],
    body: schemas.TodoPatchBody,
    bodyExample: { status: 'done' },
    answers: { 200: { description: 'The to-do', schema: todo, example, headers: ['ETag'] } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, body, reply }) =>
      sendResource(reply, await patchTodo(ctx, params.id, body)),
  });

  operation(app, {
    method: 'DELETE',
    url: '/api/v1/todos/:id',
    id: 'deleteTodo',
    tag,
    summary: 'Delete a to-do',
    description: 'A recurring to-do ends with it.',
    ...changing,
    params: IdParams,
    headers: ['If-Match'],
    answers: { 204: { description: 'Deleted' } },
    handler: async ({ ctx, params, reply }) => {
      await deleteTodo(ctx, params.id);
      return reply.code(204).send();
    },
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/todos/:id/promote',
    id: 'promoteTodo',
    tag,
    summary: 'Open a scheduled to-do early',
    ...changing,
    params: IdParams,
    headers: ['If-Match'],
    answers: { 200: { description: 'The to-do', schema: todo, example, headers: ['ETag'] } },
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => sendResource(reply, await promoteTodo(ctx, params.id)),
  });
}
