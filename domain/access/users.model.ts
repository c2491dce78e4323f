import Type from 'typebox';
import { columnsOf, type RowOf, rowModel } from '../kernel/resources/rows.ts';
import { Choice, Nullable, OpenObject, Timestamp, Uuid } from '../kernel/shapes.ts';

/** A person or a service account. */
export class User extends rowModel('users', {
  id: Uuid,
  email: Type.String(),
  display_name: Type.String(),
  role: Type.String(),
  password_hash: Nullable(Type.String()),
  is_active: Type.Boolean(),
  locale: Type.String(),
  auth_provider: Choice(['local', 'sso']),
  ui_preferences: OpenObject,
  notification_preferences: OpenObject,
  // Part of access tokens; increasing it revokes them all.
  token_version: Type.Integer(),
  failed_login_attempts: Type.Integer(),
  locked_until: Nullable(Timestamp),
  last_login: Nullable(Timestamp),
  created_at: Timestamp,
  updated_at: Timestamp,
  kind: Choice(['person', 'service']),
  owner_id: Nullable(Uuid),
  invited_at: Nullable(Timestamp),
  erased_at: Nullable(Timestamp),
  password_login_until: Nullable(Timestamp),
}) {}
export type UserRow = RowOf<typeof User>;

/** The columns of a user in responses. */
export const shownColumns = columnsOf(
  User,
  'id',
  'email',
  'display_name',
  'role',
  'is_active',
  'locale',
  'kind',
  'auth_provider',
  'ui_preferences',
  'created_at',
);

// RFC 5321 without quoted names and literal addresses, as in the API's own schemas.
const atom = "[a-z0-9!#$%&'*+/=?^_`{|}~-]+";
const label = '[a-z0-9](?:[a-z0-9-]*[a-z0-9])?';
const address = new RegExp(`^${atom}(?:\\.${atom})*@(?:${label}\\.)+${label}$`, 'i');

/** Whether a text is an e-mail address. */
export const isAddress = (text: string): boolean => address.test(text);
