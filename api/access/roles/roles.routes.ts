import Type from 'typebox';
import { archiveRole, createRole, patchRole, restoreRole } from '../../../domain/access/roles.commands.ts';
import { Role } from '../../../domain/access/roles.model.ts';
import { permissionCatalogue, readRole, roleList } from '../../../domain/access/roles.queries.ts';
import { Clearable, Color, component, Flag, itemComponent, object } from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import type { App } from '../../types.ts';

const roleMembers = { ...Role.columns, user_count: Type.Integer() };

const RoleSchema = itemComponent('Role', roleMembers);

const ArchivedRoleSchema = component('ArchivedRole', {
  ...roleMembers,
  users_affected: Type.Integer({ description: 'Active users with the role, who have no access now' }),
});

const Label = Type.String({ minLength: 1, maxLength: 200 });
const Description = Clearable(Type.String({ maxLength: 2000 }));
const Permissions = { description: 'Keys of the catalogue; permissions that are not listed are not granted' };
const role = ok('The role', RoleSchema);

/** Roles and the catalogue of permissions. */
export function registerRoleRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Users and roles', permission: 'login' });

  routes.list('listRoles', '/api/v1/roles', roleList, {
    summary: 'List roles',
    responses: page('Roles', RoleSchema),
  });

  routes.post('createRole', '/api/v1/roles', {
    summary: 'Create a role',
    permission: 'admin.roles',
    permissionNote: 'the permissions of the role; those of the former default role to replace it',
    body: object({
      key: Type.String({ pattern: '^[a-z][a-z0-9_]{2,49}$', description: 'Never changes' }),
      label: Label,
      description: Description,
      color: Type.String({ ...Color, default: '#757575' }),
      permissions: Type.Record(Type.String(), Type.Boolean(), { ...Permissions, default: {} }),
      is_default: Flag('Whether it is the role of new users'),
    }),
    responses: { 201: { description: 'The role', schema: RoleSchema } },
    errors: ['conflict'],
    handler: ({ ctx, body }) => createRole(ctx, body),
  });

  routes.get('readPermissionCatalogue', '/api/v1/roles/permissions-schema', {
    summary: 'Read the catalogue of permissions by group',
    responses: ok(
      'Groups of permission keys with what each allows',
      Type.Record(
        Type.String(),
        object({ label: Type.String(), permissions: Type.Record(Type.String(), Type.String()) }),
      ),
    ),
    handler: async () => permissionCatalogue(),
  });

  routes.get('readRole', '/api/v1/roles/:key', {
    summary: 'Read one role',
    responses: role,
    handler: ({ ctx, params }) => readRole(ctx, params.key),
  });

  registerRoleChangeRoutes(app);
}

/** Write operations of a role. */
function registerRoleChangeRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Users and roles', permission: 'admin.roles' });

  routes.patch('patchRole', '/api/v1/roles/:key', {
    summary: 'Change a role',
    description:
      'New permissions apply from the next request of every user with the role. `permissions` replaces all of them; those of administrators cannot be changed.',
    permissionNote:
      'the permissions of the role before and after the change; those of the former default role to replace it',
    body: object({
      label: Type.Optional(Label),
      description: Description,
      color: Type.Optional(Color),
      permissions: Type.Optional(Type.Record(Type.String(), Type.Boolean(), Permissions)),
      is_default: Type.Optional(Type.Boolean()),
      sort_order: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
    }),
    responses: role,
    errors: ['conflict', 'wrong_state'],
    handler: ({ ctx, params, body }) => patchRole(ctx, params.key, body),
  });

  routes.post('archiveRole', '/api/v1/roles/:key/archive', {
    summary: 'Archive a role',
    description: 'Users with the role have no access until they get another one.',
    permissionNote: 'the permissions of the role',
    responses: ok('The role and the number of its users', ArchivedRoleSchema),
    errors: ['conflict', 'system_role', 'wrong_state'],
    handler: async ({ ctx, params }) => {
      const { text, affected } = await archiveRole(ctx, params.key);
      return `${text.slice(0, -1)},"users_affected":${affected}}`;
    },
  });

  routes.post('restoreRole', '/api/v1/roles/:key/restore', {
    summary: 'Restore an archived role',
    permissionNote: 'the permissions of the role',
    responses: role,
    errors: ['wrong_state'],
    handler: ({ ctx, params }) => restoreRole(ctx, params.key),
  });
}
