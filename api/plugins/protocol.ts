import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { type ErrorCode, EstateError, errorCodes } from '../../platform/errors.ts';
import type { Logger } from '../../platform/logging.ts';
import { addressMatcher, clientOf } from '../../platform/outbound.rules.ts';
import { createUsage } from '../../platform/usage.ts';
import type { App } from '../types.ts';
import { problemOf } from './problems.ts';

/** Time for a client to read the response before its connection is closed, in milliseconds. */
const ANSWER_MS = 1_000;

/** Errors of Node's HTTP server by code; all others are malformed requests. */
const refusals: Record<string, [code: ErrorCode, detail: string]> = {
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The URL and the headers together are too long.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload_too_large', 'The extensions of a chunk are too long.'],
};

/** Writes an error to the socket, where there is no response object, and closes it. */
function refuseConnection(socket: Duplex, error: EstateError, requestId = randomUUID()): void {
  if (socket.destroyed || !socket.writable) {
    socket.destroy();
    return;
  }
  const body = JSON.stringify(problemOf(error, requestId));
  const headers = {
    ...headersOf(error, requestId),
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.end(`HTTP/1.1 ${error.status} ${errorCodes[error.code].title}\r\n${lines.join('')}\r\n${body}`);
  const timer = setTimeout(() => socket.destroy(), ANSWER_MS);
  socket.on('error', () => socket.destroy());
  socket.on('close', () => clearTimeout(timer));
}

const headersOf = (error: EstateError, requestId: string): Record<string, string> => ({
  'content-type': 'application/problem+json; charset=utf-8',
  'x-content-type-options': 'nosniff',
  'x-request-id': requestId,
  ...error.headers,
});

/** RFC 9112, 3.2; injected requests have no raw headers. */
const isHostRepeated = ({ rawHeaders = [] }: IncomingMessage): boolean =>
  rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host').length > 1;

/** Returns the handler for requests that the HTTP server cannot parse, or that do not arrive in time. */
export function protocolErrors(log: Logger): (error: NodeJS.ErrnoException, socket: Socket) => void {
  return (error, socket) => {
    // a response has begun: anything written now would become part of it
    const { _httpMessage: answer } = socket as Socket & { _httpMessage?: ServerResponse | null };
    if (error.code === 'ECONNRESET' || answer?.headersSent) {
      socket.destroy();
      return;
    }
    const [code, detail] = refusals[error.code ?? ''] ?? [
      'bad_request',
      'The request is not well-formed HTTP.',
    ];
    const requestId = randomUUID();
    log.info({ reqId: requestId, code, reason: error.code }, 'a request was refused before it was parsed');
    refuseConnection(socket, new EstateError(code, detail), requestId);
  };
}

/** Sends problem documents for requests that Node's HTTP server would refuse without a body, or not respond to. */
export function answerProtocol(app: App): void {
  const server = app.server as Server;
  server.on('checkExpectation', (_request, response) => {
    const requestId = randomUUID();
    const error = new EstateError('expectation_failed', 'The only supported expectation is 100-continue.');
    const body = JSON.stringify(problemOf(error, requestId));
    const headers = { 'content-length': Buffer.byteLength(body), connection: 'close' };
    response.writeHead(error.status, { ...headersOf(error, requestId), ...headers }).end(body);
  });
  server.on('connect', (_request, socket) => {
    const error = new EstateError('method_not_allowed', 'This service is not a proxy.', {
      headers: { allow: 'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS' },
    });
    refuseConnection(socket, error);
  });

  let isClosing = false;
  app.addHook('preClose', async () => {
    isClosing = true;
  });
  app.addHook('onRequest', (request, _reply, done) => {
    if (isClosing) {
      const headers = { 'retry-after': '2' };
      done(new EstateError('unavailable', 'This process is shutting down.', { headers }));
    } else if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) {
      done(new EstateError('bad_request', 'The header Host is missing.'));
    } else if (isHostRepeated(request.raw)) {
      done(new EstateError('bad_request', 'The header Host is sent twice.'));
    } else done();
  });
}

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
  const open = createUsage();
  server.on('connection', (socket: Socket) => {
    const address = socket.remoteAddress ?? '';
    const client = isProxy(address) ? undefined : clientOf(address);
    socket.on('close', open.take(client ?? ''));
    if (client !== undefined && open.of(client) > perAddress) {
      const detail = `An address can have at most ${perAddress} open connections.`;
      refuseConnection(socket, new EstateError('too_many_requests', detail, { headers }));
    } else if (open.total() > total) {
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
  const running = createUsage();
  app.addHook('onRequest', (request, reply, done) => {
    if (request.routeOptions.config.permission !== 'public') {
      done();
      return;
    }
    const client = clientOf(request.ip);
    if (running.of(client) >= perAddress) {
      const detail = `An address can have at most ${perAddress} concurrent requests without a login.`;
      done(new EstateError('too_many_requests', detail, { headers }));
      return;
    }
    reply.raw.once('close', running.take(client));
    done();
  });
}
