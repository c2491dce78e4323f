import Type from 'typebox';
import { closed, Nullable, OpenObject, Timestamp, Uuid } from './common.ts';

export const Email = Type.String({ format: 'email', maxLength: 320 });

export const TokenAnswer = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('bearer'),
    expires_in: Type.Integer({ description: 'Seconds' }),
  },
  { $id: 'Token', ...closed },
);

export const MeSchema = Type.Object(
  {
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
  },
  { $id: 'Me', ...closed },
);

export const UserSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    email: Type.String(),
    display_name: Type.String(),
    role: Type.String(),
    is_active: Type.Boolean(),
    locale: Type.String(),
    auth_provider: Type.Union([Type.Literal('local'), Type.Literal('sso')]),
    has_password: Type.Boolean(),
    pending_setup: Type.Boolean(),
    ui_preferences: OpenObject,
    created_at: Timestamp,
    last_login: Nullable(Timestamp),
  }),
  { $id: 'User', ...closed },
);

export const RoleSchema = Type.Partial(
  Type.Object({
    id: Uuid,
    key: Type.String(),
    label: Type.String(),
    description: Nullable(Type.String()),
    is_system: Type.Boolean(),
    is_default: Type.Boolean(),
    is_archived: Type.Boolean(),
    color: Type.String(),
    permissions: Type.Record(Type.String(), Type.Boolean()),
    sort_order: Type.Integer(),
    created_at: Timestamp,
    updated_at: Timestamp,
    archived_at: Nullable(Timestamp),
    archived_by: Nullable(Uuid),
    user_count: Type.Integer(),
  }),
  { $id: 'Role', ...closed },
);
