import Type from 'typebox';
import { readPersonalData } from '../../../domain/access/personal-data.ts';
import {
  patchUiPreferences,
  readUiPreferences,
  type UiPreferences,
} from '../../../domain/access/users.patch.ts';
import {
  listInvitations,
  listServiceAccounts,
  listUsers,
  readUser,
} from '../../../domain/access/users.queries.ts';
import { object } from '../../../domain/kernel/shapes.ts';
import { ok, page, routesOf } from '../../operation.ts';
import {
  AuthProvider,
  InvitationSchema,
  PersonalDataSchema,
  ServiceAccountSchema,
  UserSchema,
} from '../../schemas/access.ts';
import { listQuery, plainId } from '../../schemas/common.ts';
import type { App } from '../../types.ts';

const Tab = Type.Union([Type.Literal('overview'), Type.Literal('workspace'), Type.Literal('admin')]);
const preferences = ok('The preferences', object({ dashboard_default_tab: Tab }));

/** Read operations of users, and the caller's preferences. */
export function registerUserRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Users and roles' });

  routes.get('/api/v1/users', {
    id: 'listUsers',
    summary: 'List users',
    description:
      'Sorting by `last_login`, and the values of `last_login` and `two_factor_enabled` of other users, require `admin.users`.',
    permission: 'login',
    query: listQuery(['display_name', 'email', 'role', 'created_at', 'last_login'], 'display_name', {
      include_inactive: Type.Boolean({ default: false }),
      role: Type.Optional(
        Type.String({ minLength: 1, maxLength: 64, description: 'Only users with this role' }),
      ),
      kind: Type.Optional(
        Type.Union([Type.Literal('person'), Type.Literal('service')], {
          description: 'Only persons, or only service accounts',
        }),
      ),
      auth_provider: Type.Optional(
        Type.Union(AuthProvider.anyOf, { description: 'Only users with this login method' }),
      ),
    }),
    answers: page('Users', UserSchema),
    errors: ['forbidden'],
    handler: ({ ctx, query }) => listUsers(ctx, query),
  });

  routes.get('/api/v1/users/invitations', {
    id: 'listInvitations',
    summary: 'List open invitations',
    permission: 'admin.users',
    query: listQuery(['created_at', 'email'], 'created_at', {}),
    answers: page('Invitations', InvitationSchema),
    handler: ({ ctx, query }) => listInvitations(ctx, query),
  });

  routes.get('/api/v1/users/me/ui-preferences', {
    id: 'readUiPreferences',
    summary: 'Read the caller’s preferences of the user interface',
    permission: 'login',
    scope: 'account',
    answers: preferences,
    handler: ({ ctx }) => readUiPreferences(ctx),
  });

  routes.patch('/api/v1/users/me/ui-preferences', {
    id: 'patchUiPreferences',
    summary: 'Change the caller’s preferences of the user interface',
    permission: 'login',
    scope: 'account',
    body: object({ dashboard_default_tab: Type.Optional(Tab) }),

    answers: preferences,
    handler: ({ ctx, body }) => patchUiPreferences(ctx, body as Partial<UiPreferences>),
  });

  routes.get('/api/v1/users/:id', {
    id: 'readUser',
    summary: 'Read one user',
    permission: 'login',
    answers: ok('The user', UserSchema),
    handler: ({ ctx, params }) => readUser(ctx, plainId(params.id)),
  });

  routes.get('/api/v1/accounts/:id/personal-data', {
    id: 'readPersonalData',
    summary: 'Read all stored data about a person',
    description:
      'The account, roles on cards, tokens, comments, to-dos, survey responses, notifications and sign-ins (the newest 10,000 of each), and the number of objects that the person has written.',
    permission: 'login',
    permissionNote: 'admin.users for others',
    answers: ok('The data', PersonalDataSchema),
    errors: ['session_required'],
    handler: ({ ctx, params }) => readPersonalData(ctx, plainId(params.id)),
  });

  routes.get('/api/v1/service-accounts', {
    id: 'listServiceAccounts',
    summary: 'List service accounts',
    permission: 'admin.users',
    query: listQuery(['display_name', 'created_at'], 'display_name', {
      include_inactive: Type.Boolean({ default: false }),
    }),
    answers: page('Service accounts', ServiceAccountSchema),
    handler: ({ ctx, query }) => listServiceAccounts(ctx, query),
  });
}
