import Type from 'typebox';
import { patchUser } from '../../domain/access/users.patch.ts';
import {
  listRoles,
  listUsers,
  permissionCatalogue,
  readRole,
  readUser,
} from '../../domain/access/users.queries.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { RoleSchema, UserSchema } from '../schemas/access.ts';
import { closed, IdParams, listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Users and roles';

/** Reading of users and roles, and the change of the own account. */
export function registerUserRoutes(app: App): void {
  app.addSchema(UserSchema);
  app.addSchema(RoleSchema);

  operation(app, {
    method: 'GET',
    url: '/api/v1/users',
    id: 'listUsers',
    tag,
    summary: 'List users',
    permission: 'login',
    query: listQuery(['display_name', 'email', 'role', 'created_at', 'last_login'], 'display_name', {
      include_inactive: Type.Boolean({ default: false }),
    }),
    answers: { 200: { description: 'Users', schema: listAnswer(Type.Ref('User#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listUsers(ctx, query)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/users/:id',
    id: 'readUser',
    tag,
    summary: 'Read one user',
    permission: 'login',
    params: IdParams,
    answers: { 200: { description: 'The user', schema: Type.Ref('User#') } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readUser(ctx, params.id)),
  });

  operation(app, {
    method: 'PATCH',
    url: '/api/v1/users/:id',
    id: 'patchUser',
    tag,
    summary: 'Change a user, or the own name, language and password',
    description: 'A new password, role or deactivation revokes all tokens of the user at once.',
    permission: 'login',
    permissionNote: 'admin.users for others, roles and activation',
    params: IdParams,
    body: Type.Object(
      {
        display_name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
        locale: Type.Optional(Type.String({ pattern: '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$', maxLength: 35 })),
        password: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
        current_password: Type.Optional(Type.String({ maxLength: 1000 })),
        role: Type.Optional(Type.String({ minLength: 1, maxLength: 64 })),
        is_active: Type.Optional(Type.Boolean()),
      },
      closed,
    ),
    bodyExample: { display_name: 'Ada Lovelace', locale: 'en' },
    answers: { 200: { description: 'The user', schema: Type.Ref('User#') } },
    errors: ['conflict', 'precondition_failed', 'too_many_requests'],
    handler: async ({ ctx, params, body, reply }) => {
      await patchUser(ctx, params.id, body);
      return sendJson(reply, await readUser(ctx, params.id));
    },
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/roles',
    id: 'listRoles',
    tag,
    summary: 'List roles',
    permission: 'login',
    query: listQuery(['sort_order', 'key', 'label'], 'sort_order', {
      include_archived: Type.Boolean({ default: false }),
    }),
    answers: { 200: { description: 'Roles', schema: listAnswer(Type.Ref('Role#')) } },
    handler: async ({ ctx, query, reply }) => sendJson(reply, await listRoles(ctx, query)),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/roles/permissions-schema',
    id: 'readPermissionCatalogue',
    tag,
    summary: 'Read the catalogue of permissions by group',
    permission: 'login',
    answers: {
      200: {
        description: 'Groups of permission keys with what each allows',
        schema: Type.Record(
          Type.String(),
          Type.Object(
            { label: Type.String(), permissions: Type.Record(Type.String(), Type.String()) },
            closed,
          ),
        ),
      },
    },
    handler: async () => permissionCatalogue(),
  });

  operation(app, {
    method: 'GET',
    url: '/api/v1/roles/:key',
    id: 'readRole',
    tag,
    summary: 'Read one role',
    permission: 'login',
    params: Type.Object({ key: Type.String({ minLength: 1, maxLength: 64 }) }, closed),
    answers: { 200: { description: 'The role', schema: Type.Ref('Role#') } },
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readRole(ctx, params.key)),
  });
}
