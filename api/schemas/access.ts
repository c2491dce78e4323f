import Type from 'typebox';
import { Role } from '../../domain/access/roles.model.ts';
import {
  component,
  itemComponent,
  Nullable,
  OpenObject,
  Timestamp,
  Uuid,
} from '../../domain/kernel/shapes.ts';

export const Email = Type.String({ format: 'email', maxLength: 320 });

/** A password as sent; the rules for new ones depend on the user. */
export const Password = Type.String({ minLength: 1, maxLength: 1000 });

const token = {
  access_token: Type.String(),
  token_type: Type.Literal('bearer'),
  expires_in: Type.Integer({ description: 'Seconds' }),
  two_factor_setup_required: Type.Optional(
    Type.Boolean({ description: 'Whether the token can only be used to set up the second factor' }),
  ),
};

export const TokenAnswer = component('Token', token);

export const MeSchema = component('Me', {
  id: Uuid,
  email: Type.String(),
  display_name: Type.String(),
  role: Type.String(),
  role_label: Nullable(Type.String()),
  role_color: Nullable(Type.String()),
  is_active: Type.Boolean(),
  locale: Type.String(),
  permissions: Type.Record(Type.String(), Type.Boolean()),
  ui_preferences: OpenObject,
  impersonated_role: Nullable(Type.String()),
  impersonated_role_label: Nullable(Type.String()),
});

export const AuthProvider = Type.Union([Type.Literal('local'), Type.Literal('sso')]);

const reserved = 'Null without `admin.users`, except for your own account';
const user = {
  id: Uuid,
  email: Type.String(),
  display_name: Type.String(),
  role: Type.String(),
  is_active: Type.Boolean(),
  locale: Type.String(),
  kind: Type.Union([Type.Literal('person'), Type.Literal('service')]),
  auth_provider: AuthProvider,
  has_password: Type.Boolean(),
  pending_setup: Type.Boolean({ description: 'Whether the password is not yet set' }),
  two_factor_enabled: Nullable(Type.Boolean({ description: reserved })),
  ui_preferences: OpenObject,
  created_at: Timestamp,
  last_login: Nullable({ ...Timestamp, description: reserved }),
};

export const UserSchema = itemComponent('User', user);

export const ChangedUserSchema = component('ChangedUser', {
  ...user,
  access_token: Type.Optional(
    Type.String({
      description:
        'After a change of the caller’s password, address or provider: the new token of this login',
    }),
  ),
  token_type: Type.Optional(token.token_type),
  expires_in: Type.Optional(token.expires_in),
  two_factor_setup_required: token.two_factor_setup_required,
});

export const CreatedUserSchema = component('CreatedUser', {
  ...user,
  setup_token: Type.Optional(Type.String({ description: 'Token to set the password; only returned here' })),
});

export const ServiceAccountSchema = itemComponent(
  'ServiceAccount',
  {
    id: Uuid,
    display_name: Type.String(),
    role: Type.String(),
    is_active: Type.Boolean(),
    owner_id: Nullable(Type.String({ format: 'uuid', description: 'The responsible user' })),
    owner_display_name: Nullable(Type.String()),
    token_count: Type.Integer(),
    last_used_at: Nullable(Timestamp),
    created_at: Timestamp,
  },
  { description: 'A service account: it has tokens, but no password' },
);

export const InvitationSchema = itemComponent('Invitation', {
  id: Type.String({ format: 'uuid', description: 'The id of the user who was invited' }),
  email: Type.String(),
  display_name: Type.String(),
  role: Type.String(),
  created_at: Timestamp,
  expires_at: Nullable(Type.String({ format: 'date-time', description: 'When the last sent token expires' })),
});

const apiToken = {
  id: Uuid,
  user_id: Uuid,
  name: Type.String(),
  hint: Type.String({ examples: ['est_k3Qf'], description: 'The first characters of the token' }),
  scopes: Type.Array(Type.String({ examples: ['inventory.view'] })),
  expires_at: Nullable(Timestamp),
  is_expired: Type.Boolean(),
  last_used_at: Nullable(Type.String({ format: 'date-time', description: 'With a precision of one minute' })),
  created_by: Nullable(Uuid),
  created_at: Timestamp,
};

export const ApiTokenSchema = itemComponent('ApiToken', apiToken);

export const NewApiTokenSchema = component('NewApiToken', {
  ...apiToken,
  token: Type.String({ examples: ['est_k3QfW7bXo2nJ5tZkVY8cRf0aLhUe3sD6iTqNyEwpGmB'] }),
});

const role = { ...Role.columns, user_count: Type.Integer() };

export const RoleSchema = itemComponent('Role', role);

export const ArchivedRoleSchema = component('ArchivedRole', {
  ...role,
  users_affected: Type.Integer({ description: 'Active users with the role, who have no access now' }),
});

const rows = Type.Array(OpenObject);

export const PersonalDataSchema = component('PersonalData', {
  account: OpenObject,
  writes: Type.Record(Type.String(), Type.Integer(), { description: 'Events of the person by type' }),
  card_roles: rows,
  tokens: rows,
  provisioning: rows,
  groups: rows,
  comments: rows,
  todos: rows,
  notifications: rows,
  identities: rows,
  survey_answers: rows,
  compliance_reviews: rows,
  web_portals: rows,
  diagrams: rows,
  status_reports: rows,
  project_risks: rows,
  wbs_items: rows,
  tasks: rows,
  task_comments: rows,
  risks: rows,
  risk_mitigations: rows,
  migrations: rows,
  process_assessments: rows,
  process_flows: rows,
  decisions: rows,
  statements: rows,
  sign_ins: rows,
});
