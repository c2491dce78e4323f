import type { KeptConnection } from '../../../domain/itsm/connections.types.ts';
import type { Services } from '../../../domain/services.ts';
import type { Connector } from '../connectors/connector.ts';
import type { ServiceNowAuth, ServiceNowConfig } from '../connectors/servicenow/config.ts';
import { connectServiceNow } from '../connectors/servicenow/servicenow.ts';
import { databaseLimiterStore } from '../limiter/limiter.database.ts';

/** What calling a remote needs of the process. */
export type RemoteTools = Pick<Services, 'config' | 'db'>;

/** How the calls are made, where it is not as usual for runs. */
export interface OpenOptions {
  signal?: AbortSignal;
  config?: Partial<Pick<ServiceNowConfig, 'timeoutMs' | 'attempts' | 'longestWaitMs'>>;
}

/** Opens a stored connection; to be closed by the caller. Its pace is shared by all processes. */
export function openConnection(
  { config, db }: RemoteTools,
  { settings, secrets }: KeptConnection,
  options: OpenOptions = {},
): Connector {
  const { ca, client_certificate: cert } = settings;
  return connectServiceNow({
    config: {
      url: settings.instance_url,
      auth: authOf({ settings, secrets }),
      tls: {
        ...(ca === null ? {} : { ca }),
        ...(cert === null ? {} : { cert, key: secrets.client_key! }),
      },
      ...options.config,
    },
    outboundAllow: config.outboundAllow,
    limits: databaseLimiterStore(db),
    ...(options.signal ? { signal: options.signal } : {}),
  });
}

// that what each way needs is there was checked when it was stored
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
