import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import fastify from 'fastify';
import { boundConnections, boundPublicRequests } from '../../../api/plugins/protocol.ts';
import type { App } from '../../../api/types.ts';
import { ok, openApp } from '../../support/harness.ts';
import { until } from '../../support/until.ts';

const { t } = await openApp();
await t.app.listen({ port: 0, host: '127.0.0.1' });
const port = (t.app.server.address() as AddressInfo).port;

type Answer = { status: number; headers: Record<string, string>; text: string };

/** Sends a text as it is, and reads everything until the connection is closed. */
async function exchange(text: string, to = port): Promise<Answer> {
  const socket = net.connect(to, '127.0.0.1');
  socket.write(text);
  let received = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    received += part;
  });
  socket.on('error', () => {
    // the service may close before it has read everything
  });
  await once(socket, 'close');
  const [head = '', body = ''] = received.split('\r\n\r\n', 2);
  const [first = '', ...lines] = head.split('\r\n');
  const headers = lines.map((line) => [line.split(': ')[0]!.toLowerCase(), line.split(': ')[1]!]);
  return { status: Number(first.split(' ')[1]), headers: Object.fromEntries(headers), text: body };
}

const request = (head: string, more = '') => `${head}\r\nConnection: close\r\n${more}\r\n`;
const host = 'Host: estate.example\r\n';

describe('what the HTTP server refuses is a problem document', () => {
  const json = `${host}Content-Type: application/json\r\n`;
  const login = 'POST /api/v1/auth/login HTTP/1.1';
  const health = 'GET /api/health HTTP/1.1';
  const refused: Record<string, Record<string, string>> = {
    '400 bad_request': {
      'a method that is none': request('FOO /api/health HTTP/1.1', host),
      'no HTTP': 'hello\r\n\r\n',
      'a broken header': request(health, `${host}no colon\r\n`),
      'no host': request(health),
      'two hosts': request(health, `${host}Host: other\r\n`),
      'two lengths': request(login, `${host}Content-Length: 1\r\nContent-Length: 2\r\n`),
      'chunks that are none': `${request(login, `${json}Transfer-Encoding: chunked\r\n`)}zz\r\n`,
    },
    '431 headers_too_large': {
      'headers that are too large': request(health, `${host}X-Long: ${'x'.repeat(20_000)}\r\n`),
      'an address that is too long': request(`GET /${'x'.repeat(20_000)} HTTP/1.1`, host),
    },
    '417 expectation_failed': { 'an unknown expectation': request(health, `${host}Expect: miracles\r\n`) },
    '405 method_not_allowed': {
      'a tunnel': request('CONNECT estate.example:443 HTTP/1.1', host),
      'a method of WebDAV': request('PROPFIND /api/health HTTP/1.1', host),
      'a trace': request('TRACE /api/health HTTP/1.1', host),
    },
    '422 validation_failed': {
      'broken escapes': request('GET /api/v1/cards/%zz HTTP/1.1', host),
      'an escape that is no text': request('GET /api/v1/cards/%ff HTTP/1.1', host),
    },
    '404 not_found': {
      'nothing there': request('GET /nowhere HTTP/1.1', host),
      'a body where nothing is': request('POST /nowhere HTTP/1.1', `${json}Content-Length: 9\r\n`),
    },
    '413 payload_too_large': {
      'a body that is too large where no login is needed': request(login, `${json}Content-Length: 70000\r\n`),
    },
  };
  const cases = Object.entries(refused).flatMap(([outcome, texts]) =>
    Object.entries(texts).map(([what, text]) => [what, outcome, text] as const),
  );

  it.each(cases)('%s: %s', async (_what, outcome, text) => {
    const [status, code] = [Number(outcome.slice(0, 3)), outcome.slice(4)];
    const answer = await exchange(text);
    expect(answer).toMatchObject({
      status,
      headers: {
        'content-type': 'application/problem+json; charset=utf-8',
        'x-request-id': expect.any(String),
      },
    });
    const body = JSON.parse(answer.text);
    expect(body).toMatchObject({ code, status, request_id: answer.headers['x-request-id'] });
    expect(answer.text).not.toMatch(/\bat .*:\d+|node_modules|stack/);
  });

  it('serves a request that offers another protocol', async () => {
    const text = request('GET /api/health HTTP/1.1', `${host}Upgrade: websocket\r\n`);
    await ok(exchange(text.replace('close', 'close, upgrade')));
  });

  it('headers that do not end', async () => {
    const answer = await exchange('GET /api/health HTTP/1.1\r\nHost: estate.example\r\n');
    expect(answer.status).toBe(408);
    expect(JSON.parse(answer.text).code).toBe('request_timeout');
  });
});

it('open requests without a login are bounded by the client that a proxy names', async () => {
  const app = fastify({ trustProxy: '127.0.0.1' });
  boundPublicRequests(app as unknown as App, { perAddress: 2 });
  let answer: () => void = () => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  app.get('/slow', { config: { permission: 'public' } as never }, async () => await answered);
  app.get('/fast', { config: { permission: 'public' } as never }, async () => 'ok');
  app.get('/known', { config: { permission: 'login' } as never }, async () => 'ok');
  const ask = async (url: string, client: string) =>
    (await app.inject({ url, headers: { 'x-forwarded-for': client } })).statusCode;
  // more than the bound, one after the other
  for (let n = 0; n < 4; n += 1) expect(await ask('/fast', '198.51.100.1')).toBe(200);
  const slow = ['2001:db8::1', '2001:db8::2', '198.51.100.1'].map((client) => ask('/slow', client));
  expect(await ask('/fast', '2001:db8::3')).toBe(429);
  expect(await ask('/known', '2001:db8::3')).toBe(200);
  expect(await ask('/fast', '198.51.100.1')).toBe(200);
  answer();
  expect(await Promise.all(slow)).toEqual([200, 200, 200]);
  expect(await ask('/fast', '2001:db8::3')).toBe(200);
  await app.close();
});

it('connections are bounded by address, except for proxies, and in total', async () => {
  const server = http.createServer((_request, response) => response.end('ok'));
  boundConnections(server, [], { perAddress: 2, total: 10 });
  const proxied = http.createServer((_request, response) => response.end('ok'));
  boundConnections(proxied, ['127.0.0.0/8'], { perAddress: 1, total: 3 });
  const sockets: net.Socket[] = [];
  const open = async (to: http.Server, count: number) => {
    for (let n = 0; n < count; n += 1) {
      const socket = net.connect((to.address() as AddressInfo).port, '127.0.0.1');
      sockets.push(socket);
      await once(socket, 'connect');
    }
  };
  for (const one of [server, proxied]) {
    one.listen(0, '127.0.0.1');
    await once(one, 'listening');
  }
  const ask = (to: http.Server) =>
    exchange(request('GET / HTTP/1.1', host), (to.address() as AddressInfo).port);

  await open(server, 2);
  const byAddress = await ask(server);
  expect(byAddress.status).toBe(429);
  expect(byAddress.headers['retry-after']).toBe('5');
  expect(JSON.parse(byAddress.text).code).toBe('too_many_requests');
  await open(proxied, 2);
  await ok(ask(proxied));
  await until('the connection to be closed', async () => (await ask(proxied)).status === 200);
  await open(proxied, 1);
  const inTotal = await ask(proxied);
  expect(inTotal.status).toBe(503);
  expect(JSON.parse(inTotal.text).code).toBe('unavailable');

  sockets[0]!.destroy();
  await until('a connection to be free again', async () => (await ask(server)).status === 200);
  for (const socket of sockets) socket.destroy();
  server.close();
  proxied.close();
});
