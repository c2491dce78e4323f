import Type, { type Static, type TSchema } from 'typebox';
import { MASK } from '../settings/settings.secrets.ts';

const closed = { additionalProperties: false } as const;
const text = (maxLength: number, description: string) =>
  Type.Union([Type.String({ maxLength }), Type.Null()], {
    description: `${description}; empty or null: none`,
  });
const secret = (maxLength: number, description: string) =>
  text(
    maxLength,
    `${description}. Kept encrypted and shown as \`${MASK}\`; sent so or left out, it stays as it is. Needed again when the address changes`,
  );

const name = Type.String({ minLength: 1, maxLength: 255 });
const instanceUrl = Type.String({
  minLength: 1,
  maxLength: 500,
  description: 'Scheme and host alone, such as `https://example.service-now.com`',
});
const kind = { description: 'What answers at the address' };
const authType = { description: 'How the account proves who it is' };
const grantType = Type.Union(
  [Type.Literal('password'), Type.Literal('client_credentials'), Type.Literal('refresh_token'), Type.Null()],
  { description: 'For oauth2: how a token is had; `client_credentials` unless given' },
);

const optional = {
  grant_type: Type.Optional(grantType),
  username: Type.Optional(text(255, 'For basic, and for oauth2 by password')),
  password: Type.Optional(secret(1000, 'For basic, and for oauth2 by password')),
  client_id: Type.Optional(text(255, 'For oauth2')),
  client_secret: Type.Optional(secret(1000, 'For oauth2')),
  refresh_token: Type.Optional(secret(4000, 'For oauth2 by refresh token')),
  ca: Type.Optional(text(100_000, 'Authorities to trust instead of the public ones, as PEM')),
  client_certificate: Type.Optional(text(100_000, 'A certificate to be known by, as PEM')),
  client_key: Type.Optional(secret(20_000, 'The key of the certificate, as PEM without a passphrase')),
  is_active: Type.Optional(Type.Boolean({ description: 'False: paused, nothing is synchronised' })),
} satisfies Record<string, TSchema>;

const Kind = Type.Literal('servicenow', kind);
const AuthType = Type.Union([Type.Literal('basic'), Type.Literal('oauth2')], authType);

export const ConnectionCreate = Type.Object(
  {
    name,
    instance_url: instanceUrl,
    kind: Type.Optional(Kind),
    auth_type: Type.Optional(AuthType),
    ...optional,
  },
  closed,
);
export type ConnectionCreate = Static<typeof ConnectionCreate>;

export const ConnectionPatch = Type.Object(
  {
    name: Type.Optional(name),
    instance_url: Type.Optional(instanceUrl),
    auth_type: Type.Optional(AuthType),
    ...optional,
  },
  closed,
);
export type ConnectionPatch = Static<typeof ConnectionPatch>;

export const secretMembers = ['password', 'client_secret', 'refresh_token', 'client_key'] as const;
export type SecretMember = (typeof secretMembers)[number];
/** The secrets that are set. */
export type ConnectionSecrets = Partial<Record<SecretMember, string>>;

/** What a connection is made of, without its secrets. */
export interface ConnectionSettings {
  name: string;
  kind: 'servicenow';
  /** Scheme and host. */
  instance_url: string;
  auth_type: 'basic' | 'oauth2';
  /** Null for basic. */
  grant_type: 'password' | 'client_credentials' | 'refresh_token' | null;
  username: string | null;
  client_id: string | null;
  ca: string | null;
  client_certificate: string | null;
  is_active: boolean;
}

/** A connection with what opens it. */
export interface KeptConnection {
  settings: ConnectionSettings;
  secrets: ConnectionSecrets;
}
