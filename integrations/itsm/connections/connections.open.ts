import type { LoadedConnection } from '../../../domain/exchange/itsm/connections.load.ts';
import { refreshTokensOf } from '../../../domain/exchange/itsm/connections.load.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type { TransportConfig } from '../connectors/transport.ts';
import { databaseLimiterStore } from '../limiter/limiter.database.ts';
import { type OpenedRemote, type OpenParts, remoteKinds } from './connections.kinds.ts';

/** What calling a remote needs of the process. */
export type RemoteTools = Pick<Services, 'config' | 'db' | 'secrets' | 'log'>;

export type OpenOptions = Pick<OpenParts, 'signal' | 'clock'> &
  Partial<Pick<OpenParts, 'limits'>> & {
    /** Timeouts and retries that differ from those of runs. */
    transport?: Partial<TransportConfig>;
  };

/** Opens a stored connection; the caller closes it. All processes share its rate limit. */
export function openConnection(
  tools: RemoteTools,
  connection: LoadedConnection,
  { transport, ...options }: OpenOptions = {},
): OpenedRemote {
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
