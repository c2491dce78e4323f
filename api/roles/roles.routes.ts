import Type from 'typebox';
import { archiveRole, createRole, patchRole, restoreRole } from '../../domain/access/roles.commands.ts';
import { listRoles, permissionCatalogue, readRole } from '../../domain/access/roles.queries.ts';
import { Color, closed, Nullable } from '../../domain/kernel/shapes.ts';
import { sendJson } from '../json.ts';
import { operation } from '../operation.ts';
import { ArchivedRoleSchema, RoleSchema } from '../schemas/access.ts';
import { listAnswer, listQuery } from '../schemas/common.ts';
import type { App } from '../types.ts';

const tag = 'Users and roles';
const KeyParams = Type.Object({ key: Type.String({ minLength: 1, maxLength: 64 }) }, closed);
const Label = Type.String({ minLength: 1, maxLength: 200 });
const Description = Type.Optional(Nullable(Type.String({ maxLength: 2000 })));
const Permissions = { description: 'Keys of the catalogue; what is not named is not granted' };
const role = { 200: { description: 'The role', schema: Type.Ref('Role#') } };

/** Roles and the catalogue of permissions. */
export function registerRoleRoutes(app: App): void {
  app.addSchema(RoleSchema);
  app.addSchema(ArchivedRoleSchema);

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
    method: 'POST',
    url: '/api/v1/roles',
    id: 'createRole',
    tag,
    summary: 'Create a role',
    permission: 'admin.roles',
    permissionNote: 'the permissions of the role; those of the former default role to replace it',
    body: Type.Object(
      {
        key: Type.String({ pattern: '^[a-z][a-z0-9_]{2,49}$', description: 'Never changes' }),
        label: Label,
        description: Description,
        color: Type.String({ ...Color, default: '#757575' }),
        permissions: Type.Record(Type.String(), Type.Boolean(), { ...Permissions, default: {} }),
        is_default: Type.Boolean({ default: false, description: 'Whether new users get it' }),
      },
      closed,
    ),
    bodyExample: {
      key: 'auditor',
      label: 'Auditor',
      color: '#5d4037',
      permissions: { 'inventory.view': true, 'relations.view': true },
    },
    answers: { 201: { description: 'The role', schema: Type.Ref('Role#') } },
    errors: ['conflict'],
    handler: async ({ ctx, body, reply }) => {
      await createRole(ctx, body);
      return sendJson(reply.code(201), await readRole(ctx, body.key));
    },
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
    params: KeyParams,
    answers: role,
    handler: async ({ ctx, params, reply }) => sendJson(reply, await readRole(ctx, params.key)),
  });

  registerRoleChangeRoutes(app);
}

/** Changes of a role. */
function registerRoleChangeRoutes(app: App): void {
  operation(app, {
    method: 'PATCH',
    url: '/api/v1/roles/:key',
    id: 'patchRole',
    tag,
    summary: 'Change a role',
    description:
      'New permissions count for the next request of everybody who has the role. `permissions` replaces all of them; those of administrators stay.',
    permission: 'admin.roles',
    permissionNote:
      'the permissions of the role before and after the change; those of the former default role to replace it',
    params: KeyParams,
    body: Type.Object(
      {
        label: Type.Optional(Label),
        description: Description,
        color: Type.Optional(Color),
        permissions: Type.Optional(Type.Record(Type.String(), Type.Boolean(), Permissions)),
        is_default: Type.Optional(Type.Boolean()),
        sort_order: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
      },
      closed,
    ),
    bodyExample: { label: 'External auditor', permissions: { 'inventory.view': true } },
    answers: role,
    errors: ['conflict', 'precondition_failed', 'wrong_state'],
    handler: async ({ ctx, params, body, reply }) => {
      await patchRole(ctx, params.key, body);
      return sendJson(reply, await readRole(ctx, params.key));
    },
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/roles/:key/archive',
    id: 'archiveRole',
    tag,
    summary: 'Archive a role',
    description: 'Who has it is shut out until he is given another one.',
    permission: 'admin.roles',
    permissionNote: 'the permissions of the role',
    params: KeyParams,
    answers: {
      200: { description: 'The role, and how many have it', schema: Type.Ref('ArchivedRole#') },
    },
    errors: ['conflict', 'system_role', 'wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      const affected = await archiveRole(ctx, params.key);
      const text = await readRole(ctx, params.key);
      return sendJson(reply, `${text.slice(0, -1)},"users_affected":${affected}}`);
    },
  });

  operation(app, {
    method: 'POST',
    url: '/api/v1/roles/:key/restore',
    id: 'restoreRole',
    tag,
    summary: 'Bring an archived role back',
    permission: 'admin.roles',
    permissionNote: 'the permissions of the role',
    params: KeyParams,
    answers: role,
    errors: ['wrong_state'],
    handler: async ({ ctx, params, reply }) => {
      await restoreRole(ctx, params.key);
      return sendJson(reply, await readRole(ctx, params.key));
    },
  });
}
