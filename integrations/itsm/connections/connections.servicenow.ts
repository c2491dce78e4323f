import type { KeptConnection } from '../../../domain/exchange/itsm/connections.types.ts';
import { type ServiceNowAuth, usualConfig, type WriteDoor } from '../connectors/servicenow/config.ts';
import { connectServiceNow } from '../connectors/servicenow/servicenow.ts';
import type { RemoteKind, Tested } from './connections.kind.types.ts';

export const serviceNowKind: RemoteKind = {
  open: (connection, { tls, outboundAllow, limits, log, refreshTokens, signal, clock, patience }) =>
    connectServiceNow({
      config: {
        url: connection.settings.instance_url,
        auth: authOf(connection),
        door: doorOf(connection),
        correlationField: connection.settings.correlation_column ?? usualConfig.correlationField,
        tls,
        refreshTokens,
        ...patience,
      },
      outboundAllow,
      limits,
      log,
      ...(signal ? { signal } : {}),
      ...(clock ? { clock } : {}),
    }),
  tested: ({ settings }) => [
    { table: 'cmdb_ci', rights: ['read', 'create', 'update', 'delete'], needed: ['read'] },
    { table: 'cmdb_rel_ci', rights: ['read', 'create', 'delete'], needed: ['read'] },
    { table: 'sys_db_object', rights: ['read'], needed: ['read'] },
    { table: 'sys_dictionary', rights: ['read'], needed: ['read'] },
    { table: 'sys_choice', rights: ['read'], needed: [] },
    { table: 'sys_audit', rights: ['read'], needed: [] },
    { table: 'sys_audit_delete', rights: ['read'], needed: [] },
    ...stagingTables(settings).map((table): Tested => ({ table, rights: ['create'], needed: [] })),
  ],
};

function authOf({ settings, secrets }: KeptConnection): ServiceNowAuth {
  const account = () => ({ username: settings.username!, password: secrets.password! });
  if (settings.grant_type === null) return { kind: 'basic', ...account() };
  const client = {
    kind: 'oauth',
    clientId: settings.client_id!,
    clientSecret: secrets.client_secret!,
  } as const;
  switch (settings.grant_type) {
    case 'password':
      return { ...client, grant: 'password', ...account() };
    case 'refresh_token':
      return { ...client, grant: 'refresh_token', refreshToken: secrets.refresh_token! };
    case 'client_credentials':
      return { ...client, grant: 'client_credentials' };
  }
}

function doorOf({ settings: { new_records: way } }: KeptConnection): WriteDoor {
  switch (way?.through) {
    case 'import_set':
      return { kind: 'import_set', staging: way.staging_tables };
    case 'identification':
      return { kind: 'reconcile', source: way.data_source };
    default:
      return { kind: 'table' };
  }
}

const stagingTables = ({ new_records: way }: KeptConnection['settings']): string[] =>
  way?.through === 'import_set' ? [...new Set(Object.values(way.staging_tables))] : [];
