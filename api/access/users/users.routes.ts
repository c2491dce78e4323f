import Type from 'typebox';
import { startErasure } from '../../../domain/access/erasure/erasure.run.ts';
import { readPersonalData } from '../../../domain/access/personal-data.ts';
import { resetTwoFactor } from '../../../domain/access/two-factor.commands.ts';
import {
  createServiceAccount,
  createUser,
  resendInvitation,
  withdrawInvitation,
} from '../../../domain/access/users.create.ts';
import { deleteUser, deleteUsers } from '../../../domain/access/users.delete.ts';
import {
  patchUiPreferences,
  patchUser,
  readUiPreferences,
  type UiPreferences,
  updateUsersInBulk,
} from '../../../domain/access/users.patch.ts';
import {
  listInvitations,
  listServiceAccounts,
  listUsers,
  readServiceAccount,
  readUser,
} from '../../../domain/access/users.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { Nullable, object, Uuid } from '../../../domain/kernel/shapes.ts';
import { sendJson } from '../../json.ts';
import { ok, page, routesOf } from '../../operation.ts';
import {
  AuthProvider,
  ChangedUserSchema,
  CreatedUserSchema,
  Email,
  InvitationSchema,
  Password,
  PersonalDataSchema,
  ServiceAccountSchema,
  UserSchema,
} from '../../schemas/access.ts';
import { listQuery, plainId } from '../../schemas/common.ts';
import { StartedJobSchema } from '../../schemas/jobs.ts';
import type { App } from '../../types.ts';
import { tokenIssuer } from '../auth/auth.issue.ts';

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

const DisplayName = Type.String({ minLength: 1, maxLength: 200 });
const RoleKey = Type.String({ minLength: 1, maxLength: 64 });
const Ids = Type.Array(Uuid, { minItems: 1, maxItems: 1000, uniqueItems: true });
const skipped = Type.Array(object({ id: Uuid, reason: Type.String({ examples: ['self'] }) }));

/** Write operations of users. */
export function registerUserWriteRoutes(app: App, { secrets }: Services): void {
  const routes = routesOf(app, { tag: 'Users and roles' });

  routes.post('/api/v1/users', {
    id: 'createUser',
    summary: 'Create a user, or invite one',
    description:
      'Without a password it is an invitation: with `send_email` its token is mailed, otherwise `setup_token` is in the response, if the caller has all permissions of the role. Roles other than member and viewer can only be assigned by callers who have all their permissions.',
    permission: ['admin.users', 'users.invite'],
    permissionNote: 'admin.users to assign roles other than member and viewer',
    secretAnswer: true,
    body: object({
      email: Email,
      display_name: DisplayName,
      password: Type.Optional(Nullable(Password)),
      role: Type.String({ minLength: 1, maxLength: 64, default: 'member' }),
      send_email: Type.Boolean({ default: false }),
      auth_provider: Type.Optional(Nullable(AuthProvider)),
    }),

    answers: { 201: { description: 'The user', schema: CreatedUserSchema } },
    errors: ['email_taken', 'session_required'],
    handler: async ({ ctx, body }) => {
      const { id, setupToken } = await createUser(ctx, body);
      const text = await readUser(ctx, id);
      const more = setupToken === undefined ? '' : `,"setup_token":${JSON.stringify(setupToken)}`;
      return `${text.slice(0, -1)}${more}}`;
    },
  });

  routes.post('/api/v1/users/invitations/:id/resend', {
    id: 'resendInvitation',
    summary: 'Mail an invitation again and invalidate the former one',
    permission: 'admin.users',
    answers: ok('On its way', object({ ok: Type.Literal(true) })),
    handler: async ({ ctx, params }) => {
      await resendInvitation(ctx, plainId(params.id));
      return { ok: true };
    },
  });

  routes.delete('/api/v1/users/invitations/:id', {
    id: 'withdrawInvitation',
    summary: 'Withdraw an invitation and delete its account',
    permission: 'admin.users',
    answers: { 204: { description: 'Withdrawn' } },
    handler: ({ ctx, params }) => withdrawInvitation(ctx, plainId(params.id)),
  });

  registerUserChangeRoutes(app, { secrets });
  routes.delete('/api/v1/users/:id', {
    id: 'deleteUser',
    summary: 'Delete a user',
    description:
      'Contributions of the user remain, without a name; roles on cards, tokens and personal objects are deleted. Callers cannot delete themselves or the last active administrator.',
    permission: 'admin.users',
    errors: ['conflict'],
    handler: ({ ctx, params }) => deleteUser(ctx, plainId(params.id)),
  });

  routes.delete('/api/v1/accounts/:id/two-factor', {
    id: 'resetTwoFactor',
    summary: 'Remove the second factor of a user who has lost it',
    description: 'All logins of the user end.',
    permission: 'admin.users',
    answers: { 204: { description: 'Removed' } },
    errors: ['conflict', 'session_required', 'wrong_state'],
    handler: ({ ctx, params }) => resetTwoFactor(ctx, plainId(params.id)),
  });

  routes.post('/api/v1/accounts/:id/erase', {
    id: 'eraseUser',
    summary: 'Erase a person: replace name and address permanently, as a job',
    description:
      'The user is deactivated immediately. The job replaces current and former names and addresses by a pseudonym in the account and in every event, notification and mention; tokens and personal objects are deleted. Texts that the person has written remain. It cannot be undone, not even by a rollback. Deleted users can be erased as well.',
    permission: 'admin.users',
    answers: { 202: { description: 'The job has been started', schema: StartedJobSchema } },
    errors: ['conflict', 'wrong_state'],
    handler: ({ ctx, params }) => startErasure(ctx, plainId(params.id)),
  });

  routes.post('/api/v1/service-accounts', {
    id: 'createServiceAccount',
    summary: 'Create a service account',
    description:
      'It has no password; create its tokens under `/accounts/{id}/tokens`, change and delete it under `/users/{id}`.',
    permission: 'admin.users',
    body: object({
      display_name: DisplayName,
      role: RoleKey,
      owner_id: Type.Optional(
        Nullable(Type.String({ ...Uuid, description: 'The responsible user; default: the caller' })),
      ),
    }),

    answers: { 201: { description: 'The account', schema: ServiceAccountSchema } },
    handler: async ({ ctx, body }) => {
      const id = await createServiceAccount(ctx, body);
      return await readServiceAccount(ctx, id);
    },
  });
}

/** Change and bulk operations of users. */
function registerUserChangeRoutes(app: App, { secrets }: Pick<Services, 'secrets'>): void {
  const routes = routesOf(app, { tag: 'Users and roles' });

  const issue = tokenIssuer(app);
  routes.patch('/api/v1/users/bulk', {
    id: 'patchUsers',
    summary: 'Set the role or status of many users',
    description:
      'The caller, unknown and unchanged users and the last active administrator are skipped and listed in `skipped`.',
    permission: 'admin.users',
    body: object({
      ids: Ids,
      updates: object(
        { role: Type.Optional(RoleKey), is_active: Type.Optional(Type.Boolean()) },
        { minProperties: 1 },
      ),
    }),

    answers: ok('What was changed', object({ updated: Type.Integer(), skipped })),
    handler: ({ ctx, body }) => updateUsersInBulk(ctx, body.ids, body.updates),
  });

  routes.post('/api/v1/users/bulk-delete', {
    id: 'deleteUsers',
    summary: 'Delete many deactivated users',
    description: 'Active users and the caller are skipped and listed in `skipped`.',
    permission: 'admin.users',
    body: object({ ids: Ids }),
    answers: ok('What was deleted', object({ deleted: Type.Integer(), skipped })),
    handler: ({ ctx, body }) => deleteUsers(ctx, body.ids),
  });

  routes.patch('/api/v1/users/:id', {
    id: 'patchUser',
    summary: 'Change a user, or the caller’s name, language and password',
    description:
      'A new password, address, role or status immediately ends all logins of the user, a new password also the user’s personal tokens. After a change of the caller’s password, address or provider, unless role or status change too, the response contains a new token for this login. A change of the caller’s password or address requires the current password or a code; an account without a password requires a login in the last five minutes. To set the password or address of another user, or to assign a role, the caller must have all permissions of that account or role.',
    permission: 'login',
    permissionNote:
      'admin.users or scope account for the caller’s account; admin.users for other accounts, and for roles, status, address and provider',
    secretAnswer: true,
    body: object({
      display_name: Type.Optional(DisplayName),
      email: Type.Optional(Email),
      locale: Type.Optional(Type.String({ pattern: '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$', maxLength: 35 })),
      password: Type.Optional(Password),
      current_password: Type.Optional(
        Type.String({
          maxLength: 1000,
          description: 'Required to change the caller’s password, address or provider, unless `code` is sent',
        }),
      ),
      code: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 50,
          description:
            'Code of the caller’s authenticator, or a recovery code, instead of `current_password`',
        }),
      ),
      role: Type.Optional(RoleKey),
      is_active: Type.Optional(Type.Boolean()),
      auth_provider: Type.Optional(AuthProvider),
    }),

    answers: ok('The user', ChangedUserSchema),
    errors: [
      'conflict',
      'email_taken',
      'precondition_failed',
      'recent_login_required',
      'session_required',
      'too_many_requests',
      'wrong_state',
    ],
    handler: async ({ ctx, params, body, reply }) => {
      const subject = await patchUser(ctx, secrets, plainId(params.id), body);
      const user = await readUser(ctx, plainId(params.id));
      if (!subject) return sendJson(reply, user);
      return { ...JSON.parse(user), ...(await issue(subject)) };
    },
  });
}
