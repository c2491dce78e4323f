import Type, { type Static } from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import { MASK } from '../../kernel/settings/settings.read.ts';
import { Choice, FilledText, keyed, object, optional } from '../../kernel/shapes.ts';
import { ApiKeyPlace, OAuthClient } from './connections.auth.ts';
import { HttpSources } from './http-sources.input.ts';

/** How the account of a connection authenticates. */
export const authTypes = ['basic', 'oauth2', 'token', 'api_key', 'none'] as const;
export type AuthType = (typeof authTypes)[number];

/** What the connections of one kind can be configured with. */
export interface ConnectionKindRules {
  /** Whether the address is only a scheme and host, or may include a path. */
  address: 'host' | 'path';
  /** The first is the default. */
  authTypes: readonly [AuthType, ...AuthType[]];
  /** The remote sends local times, so the connection needs their time zone. */
  timeZone?: true;
  /** The remote is never written to: mappings can only pull. */
  readOnly?: true;
  /** Its tables are declared in the connection, as `sources`. */
  sources?: true;
  /** Create APIs that it offers besides the Table API. */
  newRecords?: readonly CreateApi[];
  /** The column that stores the correlation id can be chosen. */
  correlationColumn?: true;
  /** The token endpoint of OAuth clients is declared in the connection, as `oauth`, and only the client credentials grant is used. */
  tokenEndpoint?: true;
}

/** The kinds of remotes; `integrations/exchange/itsm/connections` has a connector for each. */
export const connectionKinds = {
  servicenow: {
    address: 'host',
    authTypes: ['basic', 'oauth2'],
    newRecords: ['import_set', 'identification'],
    correlationColumn: true,
  },
  itop: { address: 'path', authTypes: ['basic', 'token'], timeZone: true, newRecords: ['reconciliation'] },
  netbox: { address: 'path', authTypes: ['token'] },
  http: {
    address: 'path',
    authTypes: ['none', 'basic', 'token', 'oauth2', 'api_key'],
    readOnly: true,
    sources: true,
    tokenEndpoint: true,
  },
} as const satisfies Record<string, ConnectionKindRules>;

export type ConnectionKind = keyof typeof connectionKinds;

const MAX_KEYS = 10;
const TABLE_PATTERN = '^[A-Za-z][A-Za-z0-9_]{0,79}$';

/** The create API of a remote that has several. */
export const NewRecords = Type.Union(
  [
    object({
      through: Type.Literal('import_set'),
      staging_tables: Type.Record(
        Type.String({ minLength: 1, maxLength: 80 }),
        Type.String({ pattern: TABLE_PATTERN }),
        {
          minProperties: 1,
          maxProperties: 100,
          description:
            'By table, the staging table whose transform map creates its records and coalesces on the correlation column; records of other tables are created in the table itself',
          examples: [{ cmdb_ci_server: 'u_estate_servers' }],
        },
      ),
    }),
    object({
      through: Type.Literal('identification'),
      data_source: FilledText(40, 'A data source, one of the choices of `discovery_source`'),
    }),
    object({
      through: Type.Literal('reconciliation'),
      keys: Type.Record(
        Type.String({ minLength: 1, maxLength: 80 }),
        Type.Array(Type.String({ pattern: TABLE_PATTERN }), {
          minItems: 1,
          maxItems: MAX_KEYS,
          uniqueItems: true,
        }),
        {
          minProperties: 1,
          maxProperties: 100,
          description:
            'By class, its reconciliation keys: an object with the same values of these attributes is used instead of creating one; objects of other classes are always created',
          examples: [{ Server: ['name', 'org_id'] }],
        },
      ),
    }),
  ],
  { description: 'The API that creates records; null: they are created in their table' },
);
export type NewRecords = Static<typeof NewRecords>;

type CreateApi = NewRecords['through'];

/** Errors of the chosen create API and of the table names in it. */
export function newRecordsErrors(newRecords: NewRecords, offered: readonly CreateApi[]): FieldError[] {
  if (!offered.includes(newRecords.through)) {
    const message = `${newRecords.through} is not offered; ${offered.join(', ')} ${offered.length > 1 ? 'are' : 'is'}`;
    return [{ field: 'new_records.through', code: 'not_offered', message }];
  }
  if (newRecords.through === 'identification') return [];
  const [member, tables] =
    newRecords.through === 'import_set'
      ? (['staging_tables', newRecords.staging_tables] as const)
      : (['keys', newRecords.keys] as const);
  return Object.keys(tables)
    .filter((table) => !new RegExp(TABLE_PATTERN).test(table))
    .map((table) => ({
      field: `new_records.${member}.${table}`,
      code: 'bad_value',
      message: 'is not a valid table name',
    }));
}

const text = (maxLength: number, description: string) =>
  Type.Union([Type.String({ maxLength }), Type.Null()], {
    description: `${description}; empty or null: none`,
  });
const secret = (maxLength: number, description: string) =>
  text(
    maxLength,
    `${description}. Stored encrypted and shown as \`${MASK}\`; if it is omitted or \`${MASK}\`, it does not change. Required again when the address or the token endpoint changes`,
  );

const name = Type.String({ minLength: 1, maxLength: 255 });
const instanceUrl = FilledText(
  500,
  'Scheme and host, such as `https://example.service-now.com`; with a path for iTop, NetBox and http',
);
const grantType = Type.Union(
  [Type.Literal('password'), Type.Literal('client_credentials'), Type.Literal('refresh_token'), Type.Null()],
  { description: 'For oauth2: the grant type; default: `client_credentials`' },
);

const optionalMembers = optional({
  grant_type: grantType,
  username: text(255, 'For basic, and for oauth2 with grant type password'),
  password: secret(1000, 'For basic, and for oauth2 with grant type password'),
  client_id: text(255, 'For oauth2'),
  client_secret: secret(1000, 'For oauth2'),
  refresh_token: secret(4000, 'For oauth2 with grant type refresh_token'),
  token: secret(4000, 'For token, and the key for api_key'),
  oauth: Type.Union([OAuthClient, Type.Null()]),
  private_key: secret(
    20_000,
    'For oauth2 with private_key_jwt: the key that signs, as PEM without a passphrase',
  ),
  api_key: Type.Union([ApiKeyPlace, Type.Null()]),
  time_zone: text(100, 'For itop: the IANA time zone of its times, which is `timezone` in its configuration'),
  ca: text(100_000, 'Certificate authorities to trust instead of the public ones, as PEM'),
  client_certificate: text(100_000, 'The client certificate, as PEM'),
  client_key: secret(20_000, 'The private key of the client certificate, as PEM without a passphrase'),
  sources: HttpSources,
  new_records: Type.Union([NewRecords, Type.Null()]),
  correlation_column: Type.Union([Type.String({ pattern: '^[a-z][a-z0-9_]{0,79}$' }), Type.Null()], {
    description: 'For servicenow: the column that stores the correlation id; null: `correlation_id`',
  }),
  is_active: Type.Boolean({ description: 'False: paused, no run starts' }),
});

const Kind = Type.Union(
  (Object.keys(connectionKinds) as ConnectionKind[]).map((kind) => Type.Literal(kind)),
  { description: 'The kind of remote; default: `servicenow`' },
);
const Auth = Choice(authTypes, 'How the account authenticates; each kind of remote offers some of these');

export const ConnectionCreate = object({
  name,
  instance_url: Type.Optional(instanceUrl),
  preset: Type.Optional(
    Type.String({ maxLength: 100, description: 'A preset, whose members the other members replace' }),
  ),
  preset_parameters: Type.Optional(
    keyed(50, Type.String({ minLength: 1, maxLength: 300, pattern: '^[A-Za-z0-9._/:-]+$' }), {
      maxProperties: 10,
      description: 'The parameters of the preset',
    }),
  ),
  kind: Type.Optional(Kind),
  auth_type: Type.Optional(Auth),
  ...optionalMembers,
});
export type ConnectionCreate = Static<typeof ConnectionCreate>;

const {
  kind: _,
  preset: __,
  preset_parameters: ___,
  ...patchable
} = Type.Partial(ConnectionCreate).properties;
export const ConnectionPatch = object(patchable);
export type ConnectionPatch = Static<typeof ConnectionPatch>;

export const secretMembers = [
  'password',
  'client_secret',
  'refresh_token',
  'token',
  'private_key',
  'client_key',
] as const;
type SecretMember = (typeof secretMembers)[number];
/** The secrets that are set. */
export type ConnectionSecrets = Partial<Record<SecretMember, string>>;
