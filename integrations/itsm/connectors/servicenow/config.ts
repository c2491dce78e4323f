import type { RefreshTokens } from '../../../../domain/exchange/itsm/connections.refresh.ts';
import type { OutboundTls } from '../../../../platform/outbound.ts';
import type { TransportConfig } from '../transport.ts';

/** How an account proves who it is. */
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

/** By which door new records go in; changes, deletions and relations go through their table. */
export type WriteDoor =
  | { kind: 'table' }
  /** By table, the staging table whose map coalesces on the correlation column; other tables have no door of their own. */
  | { kind: 'import_set'; staging: Readonly<Record<string, string>> }
  /** Identification and reconciliation, under a data source that the instance knows. */
  | { kind: 'reconcile'; source: string };

export interface ServiceNowConfig extends TransportConfig {
  /** `https://<instance>.service-now.com`. */
  url: string;
  auth: ServiceNowAuth;
  tls?: OutboundTls;
  /** Where a refresh token is kept that comes in place of a used one; nowhere unless given. */
  refreshTokens?: RefreshTokens;
  /** The column that keeps who made a record. */
  correlationField: string;
  door: WriteDoor;
  /** How long a write that timed out may still be under way over there. */
  settleMs: number;
  /** Roles of which one is known to give a right on configuration items. */
  roles: Record<'create' | 'update' | 'delete' | 'load' | 'reconcile', string[]>;
}

export const usualConfig: Omit<ServiceNowConfig, 'url' | 'auth'> = {
  correlationField: 'correlation_id',
  door: { kind: 'table' },
  timeoutMs: 60_000,
  attempts: 6,
  pauseMs: 500,
  longestWaitMs: 300_000,
  settleMs: 30_000,
  roles: {
    create: ['admin', 'itil', 'sn_cmdb_editor', 'sn_cmdb_admin'],
    update: ['admin', 'itil', 'sn_cmdb_editor', 'sn_cmdb_admin'],
    delete: ['admin', 'itil_admin', 'sn_cmdb_admin'],
    load: ['admin', 'import_admin', 'import_set_loader'],
    reconcile: ['admin', 'itil', 'asset'],
  },
};
