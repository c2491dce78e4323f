import type { LoadedConnection } from '../../../domain/exchange/itsm/connections.load.ts';
import { refreshTokensOf } from '../../../domain/exchange/itsm/connections.refresh.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import { databaseLimiterStore } from '../limiter/limiter.database.ts';
import type { OpenedRemote, OpenParts } from './connections.kind.types.ts';
import { remoteKinds } from './connections.kinds.ts';

/** What calling a remote needs of the process. */
export type RemoteTools = Pick<Services, 'config' | 'db' | 'secrets' | 'log'>;

/** How the calls are made, where it is not as usual for runs. */
export type OpenOptions = Pick<OpenParts, 'signal' | 'clock' | 'patience'> &
  Partial<Pick<OpenParts, 'limits'>>;

/** Opens a stored connection; to be closed by the caller. Its pace is shared by all processes. */
export function openConnection(
  tools: RemoteTools,
  connection: LoadedConnection,
  options: OpenOptions = {},
): OpenedRemote {
  const { config, db, log } = tools;
  const { settings, secrets } = connection;
  const { ca, client_certificate: cert } = settings;
  return remoteKinds[settings.kind].open(connection, {
    tls: {
      ...(ca === null ? {} : { ca }),
      ...(cert === null ? {} : { cert, key: secrets.client_key! }),
    },
    outboundAllow: config.outboundAllow,
    limits: databaseLimiterStore(db),
    log,
    refreshTokens: refreshTokensOf(tools, connection.id),
    ...options,
  });
}
