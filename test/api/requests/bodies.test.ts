import { once } from 'node:events';
import http, { type IncomingMessage } from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { hasOptionalBody } from '../../../api/operation.body.ts';
import { bodyLimits, bodyMemoryLimits, watchBody } from '../../../api/plugins/bodies.ts';
import { expectProblem, ok, openApp, type TestClient } from '../../support/harness.ts';
import { until } from '../../support/until.ts';

const shipped = { ...bodyLimits };
Object.assign(bodyLimits, { publicMs: 1_000, restMs: 500 });
afterAll(() => Object.assign(bodyLimits, shipped));
const { t, admin } = await openApp(['admin']);
await t.app.listen({ port: 0, host: '127.0.0.1' });
const port = (t.app.server.address() as AddressInfo).port;

const nowhere = '00000000-0000-7000-8000-00000000dead';
const addressOf = (url: string) => url.replace(/:\w+/g, nowhere);
const writes = () =>
  [...t.app.operations.values()].filter(({ method }) => !['GET', 'HEAD'].includes(String(method)));

/** Operations that the token of the test would not outlive. */
const endsSessions = /^(logout|loginWith|login$|resetPassword|refreshToken)/;

it.each([
  ['POST', '/api/v1/cards', 'application/json'],
  ['PATCH', `/api/v1/cards/${nowhere}`, 'application/merge-patch+json'],
] as const)('a body that is not UTF-8 is refused: %s %s', async (method, url, type) => {
  const { statusCode, body } = await t.app.inject({
    method,
    url,
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': type },
    payload: Buffer.from('{"type":"Application","name":"K\xe4se"}', 'latin1'),
  });
  expect([statusCode, JSON.parse(body)]).toMatchObject([400, { code: 'bad_body' }]);
  expect(body).toContain('UTF-8');
});

it.each([
  ['content-encoding', 'gzip'],
  ['content-encoding', 'br'],
  ['content-type', 'application/json; charset=utf-16'],
])('a body in another encoding is refused by its header %s: %s', async (header, value) => {
  const { statusCode, body } = await t.app.inject({
    method: 'POST',
    url: '/api/v1/cards',
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json', [header]: value },
    payload: '{"type":"Application","name":"Encoded"}',
  });
  expect([statusCode, JSON.parse(body)]).toMatchObject([415, { code: 'unsupported_media_type' }]);
});

describe('an empty body', () => {
  it.each(['application/json; charset=utf-8', 'text/xml'])(
    'of %s is no body for any operation that takes no files',
    async (type) => {
      const authorization = `Bearer ${(await t.as('admin', type)).token}`;
      for (const operation of writes()) {
        const { id, method, url, consumes } = operation;
        if (consumes || endsSessions.test(id)) continue;
        const { statusCode, body } = await t.app.inject({
          method: method as 'POST',
          url: addressOf(url),
          headers: { authorization, 'content-type': type, 'content-length': '0' },
        });
        expect(`${id} ${statusCode} ${body}`).not.toMatch(/^\w+ (?:401|415|5\d\d) |bad_body|invalid_syntax/);
        if (hasOptionalBody(operation)) expect(`${id} ${body}`).not.toContain('"field":"body"');
      }
    },
  );

  it('in chunks is none either', async () => {
    for (const type of ['application/json', 'application/x-anything']) {
      const sent = http.request({
        port,
        host: '127.0.0.1',
        path: '/api/v1/mutation-batches',
        method: 'POST',
        agent: false,
        headers: {
          authorization: `Bearer ${admin.token}`,
          'content-type': type,
          'transfer-encoding': 'chunked',
        },
      });
      sent.end();
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      answer.resume();
      expect([400, 415]).not.toContain(answer.statusCode);
    }
  });
});

it('media types of merge patches are taken by PATCH as JSON is, and by nothing else', async () => {
  const card = (await admin.post('/api/v1/cards', { type: 'Application', name: 'Merged' })).body;
  const headers = { 'content-type': 'application/merge-patch+json' };
  const patched = await ok(admin.patch(`/api/v1/cards/${card.id}`, { alias: 'By patch' }, headers));
  expect(patched.alias).toBe('By patch');
  await expectProblem(admin.post('/api/v1/cards', { type: 'Application', name: 'No' }, headers), 415);
  const described = t.app.swagger() as unknown as {
    paths: Record<string, Record<string, { requestBody?: { content: Record<string, unknown> } }>>;
  };
  for (const [path, operations] of Object.entries(described.paths)) {
    for (const [method, { requestBody }] of Object.entries(operations)) {
      if (!requestBody?.content['application/json'] || path.startsWith('/scim')) continue;
      const takes = 'application/merge-patch+json' in requestBody.content;
      expect(`${method} ${path} ${takes}`).toBe(`${method} ${path} ${method === 'patch'}`);
    }
  }
});

it('media types other than these are refused', async () => {
  for (const type of ['text/plain', 'text/xml', 'application/x-www-form-urlencoded']) {
    const options = {
      method: 'POST',
      url: '/api/v1/cards',
      headers: { 'content-type': type },
      payload: '{"type":"Application","name":"No"}',
    } as const;
    await expectProblem(admin.request(options), 415);
  }
});

/** Sends the head of a request, and parts of its body when asked to; reads the answer. */
function begin(path: string, headers: string) {
  const socket = net.connect(port, '127.0.0.1');
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => {
    text += part;
  });
  socket.on('error', () => undefined);
  socket.write(`POST ${path} HTTP/1.1\r\nHost: estate.example\r\n${headers}\r\n\r\n`);
  return {
    socket,
    status: () => Number(text.split(' ')[1]),
    text: () => text,
    closed: once(socket, 'close'),
  };
}
const json = 'Content-Type: application/json\r\nContent-Length: 60000';

describe('bodies that do not end', () => {
  it('are given up where no login is needed', async () => {
    const clients = Array.from({ length: 40 }, () => begin('/api/v1/auth/login', json));
    for (const { socket } of clients) socket.write('{"email":"');
    // somebody who sends a little all the time does no better
    const trickle = setInterval(() => clients[0]!.socket.write('x'), 100);
    await Promise.all(clients.map(({ closed }) => closed));
    clearInterval(trickle);
    for (const { status, text } of clients) {
      expect(status()).toBe(408);
      expect(text()).toContain('"code":"request_timeout"');
    }
  });

  it('are not read before the login has been checked', async () => {
    for (const { id, method, url, permission } of writes()) {
      if (permission === 'public' || method !== 'POST') continue;
      const client = begin(addressOf(url), `Authorization: Bearer wrong\r\n${json}`);
      await until(`${id} to answer`, async () => client.text().includes('\r\n\r\n'));
      expect(`${id} ${client.status()}`).toBe(`${id} 401`);
      client.socket.destroy();
    }
  });

  it('are no longer waited for once they are answered', async () => {
    const client = begin('/api/v1/cards', json);
    await client.closed;
    expect(client.status()).toBe(401);
  });

  it('are at most 64 KiB where no login is needed', () => {
    for (const { id, permission, bodyLimit } of t.app.operations.values()) {
      if (permission === 'public') expect(`${id} ${bodyLimit}`).toBe(`${id} undefined`);
    }
  });

  it('of callers with a login are given up when too little arrives, however much time they take', async () => {
    const late: string[] = [];
    const limits = { ...bodyLimits, windowMs: 200, windowBytes: 100, publicMs: 200, restMs: 500 };
    const server = http.createServer((request, response) => {
      let size = 0;
      request.on('data', (part: Buffer) => {
        size += part.length;
      });
      request.on('error', (error) => {
        late.push(request.url!);
        response.writeHead(408).end(error.message);
      });
      request.on('end', () => response.end(String(size)));
      watchBody(request, true, limits);
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const send = async (path: string, bytes: number) => {
      const options = { port: (server.address() as AddressInfo).port, host: '127.0.0.1', path, agent: false };
      const sent = http.request({ ...options, method: 'POST' });
      let left = 20;
      const timer = setInterval(() => {
        left -= 1;
        if (left > 0) sent.write('x'.repeat(bytes));
        else sent.end();
      }, 50);
      sent.on('error', () => undefined);
      const [answer] = (await once(sent, 'response')) as [IncomingMessage];
      clearInterval(timer);
      sent.destroy();
      return answer.statusCode;
    };
    expect(await Promise.all([send('/fast', 100), send('/slow', 1)])).toEqual([200, 408]);
    expect(late).toEqual(['/slow']);
    server.close();
  });
});

describe('bodies that are held in memory', () => {
  const bulk = '/api/v1/relations/bulk';
  const headOf = ({ token }: TestClient, bytes: number) =>
    `Authorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${bytes}`;

  it('are bounded by user and by process, until they are answered', async () => {
    const users = await Promise.all(['a', 'b', 'c', 'd'].map((name) => t.as('member', `held-${name}`)));
    const own = bodyMemoryLimits.perUser / 4;
    const clients = users.flatMap((user) => Array.from({ length: 4 }, () => begin(bulk, headOf(user, own))));
    // a body that counts is only refused once the others are known
    const refused = async (user: TestClient) => {
      const client = begin(bulk, headOf(user, 100_000));
      await until('an answer', async () => client.text().includes('"code"'));
      client.socket.destroy();
      return [client.status(), /retry-after: 5/i.test(client.text())];
    };
    await until('all bodies to count', async () => {
      const client = begin(bulk, headOf(users[0]!, 100_000));
      client.socket.write('x'.repeat(100_000));
      await until('an answer', async () => client.text().includes('"code"'));
      client.socket.destroy();
      return client.status() === 429;
    });
    expect(await refused(users[0]!)).toEqual([429, true]);
    await until('the process to be full', async () => {
      return (await admin.post('/api/v1/relations/bulk', { padding: 'x'.repeat(100_000) })).status === 503;
    });
    expect(await refused(admin)).toEqual([503, true]);
    // small bodies are served all the while
    await users[0]!.card({ name: 'While it is full' });
    for (const { socket } of clients) socket.destroy();
    await until('room again', async () => {
      return (await admin.post('/api/v1/relations/bulk', { padding: 'x'.repeat(100_000) })).status === 422;
    });
  });

  it('of operations with larger limits go to the file storage', () => {
    const streamed = [...t.app.operations.values()]
      .filter(({ bodyLimit = 0 }) => bodyLimit > bodyMemoryLimits.largest)
      .map(({ id }) => id);
    expect(streamed.sort()).toEqual(['importWorkspace', 'startImport', 'uploadMigration']);
  });
});

it('numbers beyond those of JSON are no integers', async () => {
  const { statusCode, body } = await t.app.inject({
    method: 'POST',
    url: '/api/v1/cards/resolve-refs',
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
    payload: '{"refs":[{"row":1e999,"column":"name","ref":"A","type":"Application"}]}',
  });
  expect([statusCode, JSON.parse(body).errors]).toMatchObject([422, [{ field: 'refs.0.row' }]]);
});

it('bodies with very many members are refused before they are parsed', async () => {
  const { statusCode, body } = await t.app.inject({
    method: 'POST',
    url: '/api/v1/relations/bulk',
    headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
    payload: `{"operations":[${'{},'.repeat(600_000)}{}]}`,
  });
  expect([statusCode, JSON.parse(body).code]).toEqual([413, 'payload_too_large']);
});
