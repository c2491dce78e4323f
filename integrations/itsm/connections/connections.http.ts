import type { KeptConnection } from '../../../domain/exchange/itsm/connections.types.ts';
import type { HttpAuth } from '../connectors/http/config.ts';
import { connectHttp } from '../connectors/http/http.ts';
import type { RemoteKind } from './connections.kind.types.ts';

export const httpKind: RemoteKind = {
  open: (connection, { tls, outboundAllow, limits, log, signal, patience }) => {
    const { instance_url: url, sources } = connection.settings;
    return connectHttp({
      config: { url, auth: authOf(connection), sources: sources ?? [], tls, ...patience },
      outboundAllow,
      limits,
      log,
      ...(signal ? { signal } : {}),
    });
  },
  tested: ({ settings }) =>
    (settings.sources ?? []).map(({ name }) => ({ table: name, rights: ['read'], needed: ['read'] })),
};

function authOf({ settings, secrets }: KeptConnection): HttpAuth {
  switch (settings.auth_type) {
    case 'basic':
      return { kind: 'basic', username: settings.username!, password: secrets.password! };
    case 'token':
      return { kind: 'token', token: secrets.token! };
    default:
      return { kind: 'none' };
  }
}
