import type { RefreshTokens } from '../../../../../domain/exchange/itsm/itsm.load.ts';
import { defaultTransport, type TransportConfig } from '../transport.ts';

/** How an account authenticates. */
export type ServiceNowAuth =
  | { kind: 'basic'; username: string; password: string }
  | {
      kind: 'oauth';
      grant: 'password';
      clientId: string;
      clientSecret: string;
      username: string;
      password: string;
    }
  | { kind: 'oauth'; grant: 'refresh_token'; clientId: string; clientSecret: string; refreshToken: string }
  | { kind: 'oauth'; grant: 'client_credentials'; clientId: string; clientSecret: string };

/** Which API creates records; updates, deletions and relations use the Table API. */
export type CreateApi =
  | { kind: 'table' }
  /** The staging table of each table, whose transform map coalesces on the correlation column; other tables use the Table API. */
  | { kind: 'import_set'; staging: Readonly<Record<string, string>> }
  /** Identification and reconciliation, under a data source of the instance. */
  | { kind: 'reconcile'; source: string };

export interface ServiceNowConfig extends TransportConfig {
  /** `https://<instance>.service-now.com`. */
  url: string;
  auth: ServiceNowAuth;
  /** Stores the refresh token that replaces a used one; it is not stored unless given. */
  refreshTokens?: RefreshTokens;
  /** The column that stores the correlation id. */
  correlationField: string;
  createApi: CreateApi;
  /** Roles that are known to grant a right on configuration items. */
  roles: Record<'create' | 'update' | 'delete' | 'load' | 'reconcile', string[]>;
}

export const defaultConfig: Omit<ServiceNowConfig, 'url' | 'auth'> = {
  ...defaultTransport,
  correlationField: 'correlation_id',
  createApi: { kind: 'table' },
  roles: {
    create: ['admin', 'itil', 'sn_cmdb_editor', 'sn_cmdb_admin'],
    update: ['admin', 'itil', 'sn_cmdb_editor', 'sn_cmdb_admin'],
    delete: ['admin', 'itil_admin', 'sn_cmdb_admin'],
    load: ['admin', 'import_admin', 'import_set_loader'],
    reconcile: ['admin', 'itil', 'asset'],
  },
};
