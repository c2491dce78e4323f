import Type, { type Static, type TSchema } from 'typebox';
import type { FieldError } from '../../../platform/errors.ts';
import { MASK } from '../../kernel/settings/settings.secrets.ts';
import { closed } from '../../kernel/shapes.ts';

/** Ways in which an account proves who it is. */
export const authTypes = ['basic', 'oauth2', 'token', 'none'] as const;
export type AuthType = (typeof authTypes)[number];

/** How a connection of a kind is set up. */
export interface ConnectionKindRules {
  /** Whether the address is that of a host alone, or may go on with a path. */
  address: 'host' | 'path';
  /** The first is taken unless another is asked for. */
  authTypes: readonly [AuthType, ...AuthType[]];
  /** Whether the remote tells times by its own clocks, so that their zone has to be known. */
  timeZone?: true;
  /** Nothing is ever written there: mappings can only pull. */
  readOnly?: true;
  /** What its tables are has to be told, list by list. */
  sources?: true;
  /** By which ways new records may go in besides that of their table. */
  newRecords?: readonly NewRecordsWay[];
  /** A column of one's own choice keeps who made a record. */
  correlationColumn?: true;
}

/** What may answer at the address of a connection; `integrations/itsm/connections` knows how each is called. */
export const connectionKinds = {
  servicenow: {
    address: 'host',
    authTypes: ['basic', 'oauth2'],
    newRecords: ['import_set', 'identification'],
    correlationColumn: true,
  },
  itop: { address: 'path', authTypes: ['basic', 'token'], timeZone: true, newRecords: ['reconciliation'] },
  netbox: { address: 'path', authTypes: ['token'] },
  http: { address: 'path', authTypes: ['none', 'basic', 'token'], readOnly: true, sources: true },
} as const satisfies Record<string, ConnectionKindRules>;

export type ConnectionKind = keyof typeof connectionKinds;

const KEYS = 10;
const TABLE = '^[A-Za-z][A-Za-z0-9_]{0,79}$';

/** By which way new records go into a remote that has several. */
export const NewRecords = Type.Union(
  [
    Type.Object(
      {
        through: Type.Literal('import_set'),
        staging_tables: Type.Record(
          Type.String({ minLength: 1, maxLength: 80 }),
          Type.String({ pattern: TABLE }),
          {
            minProperties: 1,
            maxProperties: 100,
            description:
              'By table, the staging table whose map makes its records and coalesces on the correlation column; other tables are written directly',
            examples: [{ cmdb_ci_server: 'u_estate_servers' }],
          },
        ),
      },
      closed,
    ),
    Type.Object(
      {
        through: Type.Literal('identification'),
        data_source: Type.String({
          minLength: 1,
          maxLength: 40,
          description: 'A data source that `discovery_source` knows',
        }),
      },
      closed,
    ),
    Type.Object(
      {
        through: Type.Literal('reconciliation'),
        keys: Type.Record(
          Type.String({ minLength: 1, maxLength: 80 }),
          Type.Array(Type.String({ pattern: TABLE }), { minItems: 1, maxItems: KEYS, uniqueItems: true }),
          {
            minProperties: 1,
            maxProperties: 100,
            description:
              'By class, its reconciliation keys: an object that bears the same values is taken for the one to be made; objects of other classes are always made',
            examples: [{ Server: ['name', 'org_id'] }],
          },
        ),
      },
      closed,
    ),
  ],
  { description: 'By which way new records go in; null: their table' },
);
export type NewRecords = Static<typeof NewRecords>;

/** By which ways new records go in; a kind of remote offers some of them. */
type NewRecordsWay = NewRecords['through'];

/** What is wrong with the way and with the names of tables. */
export function newRecordsFaults(newRecords: NewRecords, offered: readonly NewRecordsWay[]): FieldError[] {
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
    .filter((table) => !new RegExp(TABLE).test(table))
    .map((table) => ({
      field: `new_records.${member}.${table}`,
      code: 'bad_value',
      message: 'is no name of a table',
    }));
}

const path = (description: string) => Type.String({ minLength: 1, maxLength: 200, description });
const parameter = (description: string) =>
  Type.String({ pattern: '^[A-Za-z0-9_.$~\\[\\]-]{1,100}$', examples: ['limit'], description });

const ways = {
  limit_parameter: Type.Optional(parameter('The parameter that says how many rows a page holds')),
  since_parameter: Type.Optional(
    parameter('The parameter that leaves out rows changed before a moment (RFC 3339)'),
  ),
};
const stable = Type.Optional(
  Type.Boolean({
    default: false,
    description:
      'Whether no row is skipped when others come and go between two pages, as with keys or snapshots. Where that is not sure, what is missing from a reading is never taken for gone',
  }),
);

const Paging = Type.Union(
  [
    Type.Object(
      {
        by: Type.Literal('link'),
        next: Type.Optional(path('Where the address of the next page stands; the Link header unless given')),
        is_stable: stable,
        ...ways,
      },
      closed,
    ),
    Type.Object(
      {
        by: Type.Literal('cursor'),
        next: path('Where the cursor of the next page stands'),
        parameter: parameter('The parameter that takes it'),
        is_stable: stable,
        ...ways,
      },
      closed,
    ),
    Type.Object(
      {
        by: Type.Literal('key'),
        parameter: parameter(
          'The parameter that takes the key of the last row, beyond which the page begins',
        ),
        ...ways,
      },
      closed,
    ),
  ],
  { description: 'How a JSON list goes on; without it one answer holds all rows' },
);
export type SourcePaging = Static<typeof Paging>;

export const HttpSource = Type.Object(
  {
    name: Type.String({
      pattern: '^[a-z][a-z0-9_-]{0,62}$',
      examples: ['servers'],
      description: 'By which mappings name it as their table',
    }),
    label: Type.Optional(Type.String({ maxLength: 255 })),
    path: Type.String({
      maxLength: 500,
      description: 'Below the address of the connection, with its query; empty: the address itself',
    }),
    format: Type.Union([Type.Literal('csv'), Type.Literal('json'), Type.Literal('ndjson')]),
    key: path('The column whose value names a row for good'),
    updated: Type.Optional(path('The column that tells when a row was last changed')),
    rows: Type.Optional(path('Where in a JSON document the list stands, such as `data.items`')),
    separator: Type.Optional(
      Type.Union([Type.Literal(','), Type.Literal(';'), Type.Literal('\t')], {
        description: 'Of a CSV file; detected unless given',
      }),
    ),
    references: Type.Optional(
      Type.Record(Type.String({ minLength: 1, maxLength: 200 }), Type.String({ maxLength: 63 }), {
        maxProperties: 50,
        description: 'Columns that hold the key of a row of another source, by the name of that source',
      }),
    ),
    paging: Type.Optional(Paging),
  },
  closed,
);
/** A list of rows at an address. */
export type HttpSource = Static<typeof HttpSource>;

export const HttpSources = Type.Array(HttpSource, {
  minItems: 1,
  maxItems: 50,
  description: 'For http: the lists that are read there. They are replaced as a whole',
});

// an address reader takes %2e for a dot
const anywhere = /(^|\/)(\.|%2e){1,2}(\/|\?|$)|[\\\s#]|^[a-z][a-z0-9+.-]*:|^\/\//i;

/** What of the sources cannot work, whatever answers there. */
export function sourceFaults(sources: readonly HttpSource[]): FieldError[] {
  const faults: FieldError[] = [];
  const names = sources.map(({ name }) => name);
  sources.forEach(({ name, path: where, format, rows, separator, references, paging }, at) => {
    const fault = (member: string, code: string, message: string) =>
      faults.push({ field: `sources.${at}.${member}`, code, message });
    if (names.indexOf(name) < at) fault('name', 'duplicate', 'is the name of another source');
    if (anywhere.test(where)) fault('path', 'format', 'must be a path below the address of the connection');
    if (format !== 'json' && paging) fault('paging', 'not_offered', 'is for json alone');
    if (format !== 'json' && rows !== undefined) fault('rows', 'not_offered', 'is for json alone');
    if (format !== 'csv' && separator !== undefined) fault('separator', 'not_offered', 'is for csv alone');
    for (const [column, target] of Object.entries(references ?? {})) {
      if (!names.includes(target))
        fault(`references.${column}`, 'unknown_source', `${target} is no source of the connection`);
    }
  });
  return faults;
}

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
export interface ConnectionWithSecrets {
  settings: ConnectionSettings;
  secrets: ConnectionSecrets;
}
