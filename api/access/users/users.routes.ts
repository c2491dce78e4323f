import Type from 'typebox';
import { startErasure } from '../../../domain/access/erasure/erasure.run.ts';
import { personalDataParts, readPersonalData } from '../../../domain/access/personal-data.ts';
import { resetTwoFactor } from '../../../domain/access/two-factor.commands.ts';
import {
  createServiceAccount,
  createUser,
  resendInvitation,
  withdrawInvitation,
} from '../../../domain/access/users.create.ts';
import {
  CreatedUsersSchema,
  createUsers,
  Handover,
  MailConfigured,
} from '../../../domain/access/users.create-many.ts';
import { deleteUser, deleteUsers } from '../../../domain/access/users.delete.ts';
import { shownColumns, User } from '../../../domain/access/users.model.ts';
import {
  patchUiPreferences,
  patchUser,
  readUiPreferences,
  type UiPreferences,
  updateUsersInBulk,
} from '../../../domain/access/users.patch.ts';
import {
  invitationColumns,
  invitationList,
  serviceAccountColumns,
  serviceAccountList,
  userList,
} from '../../../domain/access/users.queries.ts';
import { readOne } from '../../../domain/kernel/lists/lists.define.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import {
  Choice,
  Clearable,
  component,
  Flag,
  itemComponent,
  Key,
  Nullable,
  OpenObject,
  object,
  partialObject,
  Timestamp,
  Uuid,
} from '../../../domain/kernel/shapes.ts';
import { sendJson } from '../../json.ts';
import { started } from '../../kernel/jobs/jobs.schemas.ts';
import { ok, page, routesOf } from '../../operation.ts';
import { plainId } from '../../schemas.ts';
import type { App } from '../../types.ts';
import { Email, Password, token } from '../access.schemas.ts';
import { tokenIssuer } from '../auth/auth.issue.ts';

const reserved = 'Null without `admin.users`, except for your own account';
const user = {
  ...shownColumns.columns,
  has_password: Type.Boolean(),
  pending_setup: Type.Boolean({ description: 'Whether the password is not yet set' }),
  two_factor_enabled: Nullable(Type.Boolean({ description: reserved })),
  last_login: Nullable({ ...Timestamp, description: reserved }),
};

const UserSchema = itemComponent('User', user);

const ChangedUserSchema = component('ChangedUser', {
  ...user,
  access_token: Type.Optional(
    Type.String({
      description:
        'After a change of the caller’s password, address or provider: the new token of this login; the web interface gets it as a cookie',
    }),
  ),
  token_type: Type.Optional(Choice(['bearer', 'cookie'])),
  expires_in: Type.Optional(token.expires_in),
  two_factor_setup_required: token.two_factor_setup_required,
});

const told = { mail_configured: MailConfigured, ...Handover };

const CreatedUserSchema = component('CreatedUser', { ...user, ...told });

const ServiceAccountSchema = itemComponent(
  'ServiceAccount',
  {
    ...serviceAccountColumns.columns,
    owner_display_name: Nullable(Type.String()),
    token_count: Type.Integer(),
    last_used_at: Nullable(Timestamp),
  },
  { description: 'A service account: it has tokens, but no password' },
);

const InvitationSchema = itemComponent('Invitation', {
  ...invitationColumns.columns,
  expires_at: Nullable(Type.String({ format: 'date-time', description: 'When the last sent token expires' })),
});

const PersonalDataSchema = component('PersonalData', {
  account: OpenObject,
  writes: Type.Record(Type.String(), Type.Integer(), { description: 'Events of the person by type' }),
  ...Object.fromEntries(personalDataParts.map((name) => [name, Type.Array(OpenObject)])),
});

const Tab = Choice(['overview', 'workspace', 'admin']);
const uiPreferences = {
  dashboard_default_tab: Tab,
  pinned_views: Type.Array(Uuid, { maxItems: 100, description: 'Saved views, in order' }),
  settings: Type.Record(Key, Type.Unknown(), {
    maxProperties: 200,
    description: 'What the interface stores, at most 16 KiB; a change replaces single keys, null removes one',
  }),
};
const preferences = ok('The preferences', object(uiPreferences));

/** Read operations of users, and the caller's preferences. */
export function registerUserRoutes(app: App): void {
  const routes = routesOf(app, { tag: 'Users and roles', permission: 'login' });

  routes.list('listUsers', '/api/v1/users', userList, {
    summary: 'List users',
    description:
      'Sorting by `last_login`, and the values of `last_login` and `two_factor_enabled` of other users, require `admin.users`.',
    responses: page('Users', UserSchema),
    errors: ['forbidden'],
  });

  routes.list('listInvitations', '/api/v1/users/invitations', invitationList, {
    summary: 'List open invitations',
    responses: page('Invitations', InvitationSchema),
  });

  routes.get('readUiPreferences', '/api/v1/users/me/ui-preferences', {
    summary: 'Read the caller’s preferences of the user interface',
    scope: 'account',
    responses: preferences,
    handler: ({ ctx }) => readUiPreferences(ctx),
  });

  routes.patch('patchUiPreferences', '/api/v1/users/me/ui-preferences', {
    ifMatch: false,
    summary: 'Change the caller’s preferences of the user interface',
    scope: 'account',
    body: partialObject(uiPreferences),
    responses: preferences,
    handler: ({ ctx, body }) => patchUiPreferences(ctx, body as Partial<UiPreferences>),
  });

  routes.get('readUser', '/api/v1/users/:id', {
    summary: 'Read one user',
    responses: ok('The user', UserSchema),
    handler: ({ ctx, params }) => readOne(ctx, userList, 'user', plainId(params.id)),
  });

  routes.get('readPersonalData', '/api/v1/accounts/:id/personal-data', {
    summary: 'Read all stored data about a person',
    description:
      'The account, roles on cards, tokens, comments, to-dos, survey responses, notifications and sign-ins (the newest 10,000 of each), and the number of objects that the person has written.',
    permissionNote: 'admin.users for others',
    responses: ok('The data', PersonalDataSchema),
    errors: ['session_required'],
    handler: ({ ctx, params }) => readPersonalData(ctx, plainId(params.id)),
  });

  routes.list('listServiceAccounts', '/api/v1/service-accounts', serviceAccountList, {
    summary: 'List service accounts',
    responses: page('Service accounts', ServiceAccountSchema),
  });
}

const DisplayName = Type.String({ minLength: 1, maxLength: 200 });
const newUser = {
  email: Email,
  display_name: DisplayName,
  role: Type.String({ minLength: 1, maxLength: 64, default: 'member' }),
  auth_provider: Clearable(User.columns.auth_provider),
};
const SendEmail = Type.Boolean({ default: false });
const RoleKey = Type.String({ minLength: 1, maxLength: 64 });
const Ids = Type.Array(Uuid, { minItems: 1, maxItems: 1000, uniqueItems: true });
const skipped = Type.Array(object({ id: Uuid, reason: Type.String({ examples: ['self'] }) }));

/** Write operations of users. */
export function registerUserWriteRoutes(app: App, { secrets }: Services): void {
  const routes = routesOf(app, { tag: 'Users and roles', permission: 'admin.users' });

  routes.post('createUser', '/api/v1/users', {
    summary: 'Create a user, or invite one',
    description:
      'Without a password it is an invitation: with `send_email` its token is mailed. Otherwise, and if no mail server is configured (`mail_configured` is false), `setup_token` and `setup_link` are in the response, if the caller has all permissions of the role and no API token is used; else `setup_missing` says why not and what to do. Roles other than member and viewer can only be assigned by callers who have all their permissions.',
    permission: ['admin.users', 'users.invite'],
    permissionNote: 'admin.users to assign roles other than member and viewer',
    secretResponse: true,
    body: object({ ...newUser, password: Clearable(Password), send_email: SendEmail }),
    responses: { 201: { description: 'The user', schema: CreatedUserSchema } },
    errors: ['email_taken', 'session_required'],
    handler: async ({ ctx, body }) => {
      const { text, told } = await createUser(ctx, body);
      return { ...JSON.parse(text), ...told };
    },
  });

  routes.post('resendInvitation', '/api/v1/users/invitations/:id/resend', {
    summary: 'Mail an invitation again and invalidate the former one',
    description:
      'If no mail server is configured, the response has `setup_token` and `setup_link` as that of `POST /users`; for a caller who may not get them, `ok` is false, and `setup_missing` says what to do.',
    secretResponse: true,
    responses: ok(
      'On its way, or to be handed over',
      object({
        ok: Type.Boolean({ description: 'Whether it is on its way or handed over' }),
        ...told,
      }),
    ),
    handler: async ({ ctx, params }) => {
      const invited = await resendInvitation(ctx, plainId(params.id));
      return { ok: invited.setup_missing === undefined, ...invited };
    },
  });

  routes.delete('withdrawInvitation', '/api/v1/users/invitations/:id', {
    summary: 'Withdraw an invitation and delete its account',
    responses: { 204: { description: 'Withdrawn' } },
    handler: ({ ctx, params }) => withdrawInvitation(ctx, plainId(params.id)),
  });

  registerUserChangeRoutes(app, { secrets });
  routes.delete('deleteUser', '/api/v1/users/:id', {
    summary: 'Delete a user',
    description:
      'Contributions of the user remain, without a name; roles on cards, tokens and personal objects are deleted. Callers cannot delete themselves or the last active administrator.',
    errors: ['conflict'],
    handler: ({ ctx, params }) => deleteUser(ctx, plainId(params.id)),
  });

  routes.delete('resetTwoFactor', '/api/v1/accounts/:id/two-factor', {
    summary: 'Remove the second factor of a user who has lost it',
    description: 'All logins of the user end.',
    responses: { 204: { description: 'Removed' } },
    errors: ['conflict', 'session_required', 'wrong_state'],
    handler: ({ ctx, params }) => resetTwoFactor(ctx, plainId(params.id)),
  });

  routes.post('eraseUser', '/api/v1/accounts/:id/erase', {
    summary: 'Erase a person: replace name and address permanently, as a job',
    description:
      'The user is deactivated immediately. The job replaces current and former names and addresses by a pseudonym in the account and in every event, notification and mention; tokens and personal objects are deleted. Texts that the person has written remain. It cannot be undone, not even by a rollback. Deleted users can be erased as well.',
    responses: started,
    errors: ['conflict', 'wrong_state'],
    handler: ({ ctx, params }) => startErasure(ctx, plainId(params.id)),
  });

  routes.post('createServiceAccount', '/api/v1/service-accounts', {
    summary: 'Create a service account',
    description:
      'It has no password; create its tokens under `/accounts/{id}/tokens`, change and delete it under `/users/{id}`.',
    body: object({
      display_name: DisplayName,
      role: RoleKey,
      owner_id: Clearable(Type.String({ ...Uuid, description: 'The responsible user; default: the caller' })),
    }),
    responses: { 201: { description: 'The account', schema: ServiceAccountSchema } },
    handler: ({ ctx, body }) => createServiceAccount(ctx, body),
  });
}

/** Change and bulk operations of users. */
function registerUserChangeRoutes(app: App, { secrets }: Pick<Services, 'secrets'>): void {
  const routes = routesOf(app, { tag: 'Users and roles', permission: 'admin.users' });

  const issue = tokenIssuer(app);
  routes.patch('patchUsers', '/api/v1/users/bulk', {
    ifMatch: false,
    summary: 'Set the role or status of many users',
    description:
      'The caller, unknown and unchanged users and the last active administrator are skipped and listed in `skipped`.',
    body: object({
      ids: Ids,
      updates: partialObject({ role: RoleKey, is_active: Type.Boolean() }, { minProperties: 1 }),
    }),
    responses: ok('What was changed', object({ updated: Type.Integer(), skipped })),
    handler: ({ ctx, body }) => updateUsersInBulk(ctx, body.ids, body.updates),
  });

  routes.post('createUsers', '/api/v1/users/bulk', {
    summary: 'Create or invite many users',
    description:
      'Users who cannot be created are listed with the reason, and the others are created. They are invited as with `POST /users`, each with its `setup_token` and `setup_link`, or `setup_missing`, under the same conditions.',
    secretResponse: true,
    body: object({
      // a malformed address only fails its row
      users: Type.Array(object({ ...newUser, email: Type.String({ maxLength: 320 }) }), {
        minItems: 1,
        maxItems: 500,
      }),
      send_email: SendEmail,
      dry_run: Flag('Return the same response without writing'),
    }),
    responses: ok('The result for each user', CreatedUsersSchema),
    errors: ['email_taken'],
    handler: ({ ctx, body: { users, ...options } }) => createUsers(ctx, users, options),
  });

  routes.post('deleteUsers', '/api/v1/users/bulk-delete', {
    summary: 'Delete many deactivated users',
    description: 'Active users and the caller are skipped and listed in `skipped`.',
    body: object({ ids: Ids }),
    responses: ok('What was deleted', object({ deleted: Type.Integer(), skipped })),
    handler: ({ ctx, body }) => deleteUsers(ctx, body.ids),
  });

  routes.patch('patchUser', '/api/v1/users/:id', {
    summary: 'Change a user, or the caller’s name, language and password',
    description:
      'A new password, address, role or status immediately ends all logins of the user, a new password also the user’s personal tokens. After a change of the caller’s password, address or provider, unless role or status change too, the response contains a new token for this login. A change of the caller’s password or address requires the current password or a code; an account without a password requires a login in the last five minutes. To set the password or address of another user, or to assign a role, the caller must have all permissions of that account or role.',
    permission: 'login',
    permissionNote:
      'admin.users or scope account for the caller’s account; admin.users for other accounts, and for roles, status, address and provider',
    secretResponse: true,
    body: partialObject({
      display_name: DisplayName,
      email: Email,
      locale: Type.String({ pattern: '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$', maxLength: 35 }),
      password: Password,
      current_password: Type.String({
        maxLength: 1000,
        description: 'Required to change the caller’s password, address or provider, unless `code` is sent',
      }),
      code: Type.String({
        minLength: 1,
        maxLength: 50,
        description: 'Code of the caller’s authenticator, or a recovery code, instead of `current_password`',
      }),
      role: RoleKey,
      is_active: Type.Boolean(),
      auth_provider: User.columns.auth_provider,
    }),
    responses: ok('The user', ChangedUserSchema, 'Set-Cookie'),
    errors: [
      'conflict',
      'email_taken',
      'recent_login_required',
      'session_required',
      'too_many_requests',
      'wrong_state',
    ],
    handler: async ({ ctx, params, body, reply }) => {
      const subject = await patchUser(ctx, secrets, plainId(params.id), body);
      const user = await readOne(ctx, userList, 'user', plainId(params.id));
      if (!subject) return sendJson(reply, user);
      return { ...JSON.parse(user), ...(await issue(reply, subject)) };
    },
  });
}
