import Type, { type Static, type TSchema } from 'typebox';
import { MASK } from '../../kernel/settings/settings.secrets.ts';
import { closed } from '../../kernel/shapes.ts';
import { type AuthType, authTypes, type ConnectionKind, connectionKinds } from './connections.kinds.ts';
import { NewRecords } from './connections.new-records.ts';
import { type HttpSource, HttpSources } from './connections.sources.ts';

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
  description:
    'Scheme and host, such as `https://example.service-now.com`; with the path where the kind has one',
});
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
  token: Type.Optional(secret(4000, 'For token')),
  time_zone: Type.Optional(
    text(100, 'For itop: the IANA zone of its clocks, which is `timezone` of its configuration'),
  ),
  ca: Type.Optional(text(100_000, 'Authorities to trust instead of the public ones, as PEM')),
  client_certificate: Type.Optional(text(100_000, 'A certificate to be known by, as PEM')),
  client_key: Type.Optional(secret(20_000, 'The key of the certificate, as PEM without a passphrase')),
  sources: Type.Optional(HttpSources),
  new_records: Type.Optional(Type.Union([NewRecords, Type.Null()])),
  correlation_column: Type.Optional(
    Type.Union([Type.String({ pattern: '^[a-z][a-z0-9_]{0,79}$' }), Type.Null()], {
      description: 'For servicenow: the column that keeps who made a record; null: `correlation_id`',
    }),
  ),
  is_active: Type.Optional(Type.Boolean({ description: 'False: paused, nothing is synchronised' })),
} satisfies Record<string, TSchema>;

const Kind = Type.Union(
  (Object.keys(connectionKinds) as ConnectionKind[]).map((kind) => Type.Literal(kind)),
  { description: 'What answers at the address; `servicenow` unless given' },
);
const Auth = Type.Union(
  authTypes.map((authType) => Type.Literal(authType)),
  { description: 'How the account proves who it is; each kind offers some' },
);

export const ConnectionCreate = Type.Object(
  {
    name,
    instance_url: instanceUrl,
    kind: Type.Optional(Kind),
    auth_type: Type.Optional(Auth),
    ...optional,
  },
  closed,
);
export type ConnectionCreate = Static<typeof ConnectionCreate>;

export const ConnectionPatch = Type.Object(
  {
    name: Type.Optional(name),
    instance_url: Type.Optional(instanceUrl),
    auth_type: Type.Optional(Auth),
    ...optional,
  },
  closed,
);
export type ConnectionPatch = Static<typeof ConnectionPatch>;

export const secretMembers = ['password', 'client_secret', 'refresh_token', 'token', 'client_key'] as const;
type SecretMember = (typeof secretMembers)[number];
/** The secrets that are set. */
export type ConnectionSecrets = Partial<Record<SecretMember, string>>;

/** What a connection is made of, without its secrets. */
export interface ConnectionSettings {
  name: string;
  kind: ConnectionKind;
  /** Scheme and host, and the path where the kind has one. */
  instance_url: string;
  auth_type: AuthType;
  /** For oauth2 alone. */
  grant_type: 'password' | 'client_credentials' | 'refresh_token' | null;
  username: string | null;
  client_id: string | null;
  /** The IANA zone that the remote tells times in, where the kind needs it. */
  time_zone: string | null;
  ca: string | null;
  client_certificate: string | null;
  /** The lists of a kind that is for lists; null for others. */
  sources: HttpSource[] | null;
  /** Where the remote has several ways in; null: the table. */
  new_records: NewRecords | null;
  /** The column that keeps who made a record; null: the usual one. */
  correlation_column: string | null;
  is_active: boolean;
}

/** A connection with what opens it. */
export interface KeptConnection {
  settings: ConnectionSettings;
  secrets: ConnectionSecrets;
}
