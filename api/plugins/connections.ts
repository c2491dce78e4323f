import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { EstateError } from '../../platform/errors.ts';
import { addressMatcher, clientOf } from '../../platform/outbound.rules.ts';
import type { App } from '../types.ts';
import { refuseConnection } from './protocol.ts';

/** Open connections of one process. */
const connectionLimits = { total: 4_000, perAddress: 1_500 };

const headers = { 'retry-after': '5' };

/**
 * Limits the open connections, in total and per client address.
 * @param trustProxy addresses and ranges of proxies; they have many clients, so that only the total limit applies to them:
 * {@link boundPublicRequests} counts their clients.
 */
export function boundConnections(
  server: Server,
  trustProxy: readonly string[],
  { total, perAddress } = connectionLimits,
): void {
  const isProxy = addressMatcher(trustProxy);
  const byClient = new Map<string, number>();
  let open = 0;
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const client = isProxy(address) ? undefined : clientOf(address);
    const own = client === undefined ? 0 : (byClient.get(client) ?? 0) + 1;
    open += 1;
    if (client !== undefined) byClient.set(client, own);
    socket.on('close', () => {
      open -= 1;
      if (client === undefined) return;
      const left = byClient.get(client)! - 1;
      if (left === 0) byClient.delete(client);
      else byClient.set(client, left);
    });
    if (own > perAddress) {
      const detail = `An address can have at most ${perAddress} open connections.`;
      refuseConnection(socket, new EstateError('too_many_requests', detail, { headers }));
    } else if (open > total) {
      const detail = 'This process has reached its limit of open connections.';
      refuseConnection(socket, new EstateError('unavailable', detail, { headers }));
    }
  });
}

/**
 * Limits the concurrent requests of one client to public operations. Proxies name the client (`X-Forwarded-For`); without
 * a proxy the limit of connections applies first.
 */
export function boundPublicRequests(
  app: App,
  { perAddress }: { perAddress: number } = connectionLimits,
): void {
  const byClient = new Map<string, number>();
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.permission !== 'public') {
      done();
      return;
    }
    const client = clientOf(request.ip);
    const open = byClient.get(client) ?? 0;
    if (open >= perAddress) {
      const detail = `An address can have at most ${perAddress} concurrent requests without a login.`;
      done(new EstateError('too_many_requests', detail, { headers }));
      return;
    }
    byClient.set(client, open + 1);
    reply.raw.once('close', () => {
      const left = byClient.get(client)! - 1;
      if (left === 0) byClient.delete(client);
      else byClient.set(client, left);
    });
    done();
  });
}
