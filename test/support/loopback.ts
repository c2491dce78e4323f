import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createSecureServer, type ServerOptions } from 'node:https';
import type { AddressInfo } from 'node:net';

export interface LoopbackServer {
  server: Server;
  /** Scheme, host and port. */
  origin: string;
  /** Closes the server with all its connections. */
  close(): Promise<void>;
}

/** Serves HTTP on a free port of 127.0.0.1, HTTPS with `tls`; a request whose handler fails loses its connection. */
export async function serveOnLoopback(
  handler: (request: IncomingMessage, response: ServerResponse) => unknown,
  tls?: ServerOptions,
): Promise<LoopbackServer> {
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      await handler(request, response);
    } catch {
      request.destroy();
    }
  };
  const server = tls ? createSecureServer(tls, listener) : createServer(listener);
  server.keepAliveTimeout = 60_000;
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    server,
    origin: `http${tls ? 's' : ''}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
