import type { ConnectionKind } from '../../../../domain/exchange/itsm/connections.input.ts';
import {
  type ConnectionWithSecrets,
  type LoadedConnection,
  type RefreshTokens,
  refreshTokensOf,
} from '../../../../domain/exchange/itsm/itsm.load.ts';
import type { Services } from '../../../../domain/kernel/services.ts';
import type { Connector, Right } from '../connectors/connector.ts';
import type { HttpAuth } from '../connectors/http/authentication.ts';
import { connectHttp } from '../connectors/http/http.ts';
import { connectItop } from '../connectors/itop/itop.ts';
import { connectNetBox } from '../connectors/netbox/netbox.ts';
import { connectServiceNow } from '../connectors/servicenow/servicenow.ts';
import { type CreateApi, defaultConfig, type ServiceNowAuth } from '../connectors/servicenow/session.ts';
import type { ConnectorParts, TransportConfig } from '../connectors/transport.ts';
import { databaseLimiterStore } from '../limiter/limiter.ts';

/** What a connector needs besides its connection. */
interface ConnectorDependencies extends Omit<ConnectorParts<unknown>, 'config' | 'random'> {
  transport: Partial<TransportConfig>;
  /** Stores the refresh token that replaces a used one. */
  refreshTokens: RefreshTokens;
}

/** How connections of one kind are opened and tested. */
interface RemoteKind {
  /** The credentials were checked when the connection was stored. */
  open(connection: ConnectionWithSecrets, parts: ConnectorDependencies): Connector;
  /** The rights that a connection test checks. */
  rightsToTest(connection: ConnectionWithSecrets): readonly TestedTable[];
}

/** Rights on a table; a test fails only if a needed one is missing. */
export interface TestedTable {
  table: string;
  rights: Right[];
  needed: readonly Right[];
}

const serviceNow: RemoteKind = {
  open: (connection, { transport, refreshTokens, ...parts }) =>
    connectServiceNow({
      ...parts,
      config: {
        url: connection.settings.instance_url,
        auth: serviceNowAuth(connection),
        createApi: createApiOf(connection),
        correlationField: connection.settings.correlation_column ?? defaultConfig.correlationField,
        refreshTokens,
        ...transport,
      },
    }),
  rightsToTest: (connection) => {
    const api = createApiOf(connection);
    const staging = api.kind === 'import_set' ? new Set(Object.values(api.staging)) : [];
    return [
      { table: 'cmdb_ci', rights: ['read', 'create', 'update', 'delete'], needed: ['read'] },
      { table: 'cmdb_rel_ci', rights: ['read', 'create', 'delete'], needed: ['read'] },
      { table: 'sys_db_object', rights: ['read'], needed: ['read'] },
      { table: 'sys_dictionary', rights: ['read'], needed: ['read'] },
      { table: 'sys_choice', rights: ['read'], needed: [] },
      { table: 'sys_audit', rights: ['read'], needed: [] },
      { table: 'sys_audit_delete', rights: ['read'], needed: [] },
      ...[...staging].map((table): TestedTable => ({ table, rights: ['create'], needed: [] })),
    ];
  },
};

const basicAuthOf = ({ settings, secrets }: ConnectionWithSecrets) =>
  ({ kind: 'basic', username: settings.username!, password: secrets.password! }) as const;

const tokenOf = ({ secrets }: ConnectionWithSecrets) => ({ kind: 'token', token: secrets.token! }) as const;

function serviceNowAuth(connection: ConnectionWithSecrets): ServiceNowAuth {
  const { settings, secrets } = connection;
  const clientSecret = secrets.client_secret!;
  const client = { kind: 'oauth', clientId: settings.client_id!, clientSecret } as const;
  switch (settings.grant_type) {
    case null:
      return basicAuthOf(connection);
    case 'password':
      return { ...basicAuthOf(connection), ...client, grant: 'password' };
    case 'refresh_token':
      return { ...client, grant: 'refresh_token', refreshToken: secrets.refresh_token! };
    case 'client_credentials':
      return { ...client, grant: 'client_credentials' };
  }
}

function createApiOf({ settings: { new_records: way } }: ConnectionWithSecrets): CreateApi {
  if (way?.through === 'import_set') return { kind: 'import_set', staging: way.staging_tables };
  if (way?.through === 'identification') return { kind: 'reconcile', source: way.data_source };
  return { kind: 'table' };
}

const itop: RemoteKind = {
  open: (connection, { transport, refreshTokens: _, ...parts }) => {
    const { settings } = connection;
    return connectItop({
      ...parts,
      config: {
        url: settings.instance_url,
        auth: settings.auth_type === 'token' ? tokenOf(connection) : basicAuthOf(connection),
        timeZone: settings.time_zone!,
        reconciliation:
          settings.new_records?.through === 'reconciliation' ? settings.new_records.keys : undefined,
        ...transport,
      },
    });
  },
  rightsToTest: () => [
    { table: 'FunctionalCI', rights: ['read', 'update', 'delete'], needed: ['read'] },
    { table: 'Server', rights: ['create'], needed: [] },
    { table: 'lnkApplicationSolutionToFunctionalCI', rights: ['read', 'create', 'delete'], needed: [] },
    { table: 'CMDBChangeOp', rights: ['read'], needed: [] },
    { table: 'CMDBChangeOpDelete', rights: ['read'], needed: [] },
  ],
};

const netBox: RemoteKind = {
  open: ({ settings, secrets }, { transport, refreshTokens: _, ...parts }) =>
    connectNetBox({
      ...parts,
      config: { url: settings.instance_url, token: secrets.token!, ...transport },
    }),
  rightsToTest: () => [
    { table: 'dcim/devices', rights: ['read', 'create', 'update', 'delete'], needed: ['read'] },
    { table: 'virtualization/virtual-machines', rights: ['read', 'create', 'update'], needed: [] },
    { table: 'dcim/sites', rights: ['read'], needed: [] },
    { table: 'core/object-changes', rights: ['read'], needed: [] },
    { table: 'extras/custom-fields', rights: ['read'], needed: [] },
  ],
};

const httpAuth = (connection: ConnectionWithSecrets): HttpAuth => {
  const { settings, secrets } = connection;
  switch (settings.auth_type) {
    case 'none':
      return { kind: 'none' };
    case 'basic':
      return basicAuthOf(connection);
    case 'token':
      return tokenOf(connection);
    case 'api_key':
      return { kind: 'api_key', key: secrets.token!, place: settings.api_key! };
    case 'oauth2': {
      const client = settings.oauth!;
      const secret = client.client_auth === 'private_key_jwt' ? secrets.private_key! : secrets.client_secret!;
      return { kind: 'oauth', client, clientId: settings.client_id!, secret };
    }
  }
};

const http: RemoteKind = {
  open: (connection, { transport, refreshTokens: _, ...parts }) => {
    const { instance_url: url, sources } = connection.settings;
    const config = { url, auth: httpAuth(connection), sources: sources ?? [], ...transport };
    return connectHttp({ ...parts, config });
  },
  rightsToTest: ({ settings }) =>
    (settings.sources ?? []).map(({ name }) => ({ table: name, rights: ['read'], needed: ['read'] })),
};

/** How each kind of connection is opened and tested. */
export const remoteKinds: Record<ConnectionKind, RemoteKind> = {
  servicenow: serviceNow,
  itop,
  netbox: netBox,
  http,
};

/** The services that calling a remote needs. */
export type RemoteTools = Pick<Services, 'config' | 'db' | 'secrets' | 'log'>;

export type OpenOptions = Pick<ConnectorDependencies, 'signal' | 'clock'> &
  Partial<Pick<ConnectorDependencies, 'limits'>> & {
    /** Timeouts and retries that differ from those of runs. */
    transport?: Partial<TransportConfig>;
  };

/** Opens a stored connection; the caller closes it. All processes share its rate limit. */
export function openConnection(
  tools: RemoteTools,
  connection: LoadedConnection,
  { transport, ...options }: OpenOptions = {},
): Connector {
  const { config, db, log } = tools;
  const { settings, secrets } = connection;
  const { ca, client_certificate: cert } = settings;
  return remoteKinds[settings.kind].open(connection, {
    transport: {
      tls: {
        ...(ca === null ? {} : { ca }),
        ...(cert === null ? {} : { cert, key: secrets.client_key! }),
      },
      ...transport,
    },
    outboundAllow: config.outboundAllow,
    limits: databaseLimiterStore(db),
    log,
    refreshTokens: refreshTokensOf(tools, connection.id),
    ...options,
  });
}
