/** Event streams that are not read. */

import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { createSubscriber } from '../../../api/kernel/events/stream.hub.ts';
import { createStreamSlots, streamLimits } from '../../../api/kernel/events/stream.limits.ts';
import { drained } from '../../../api/kernel/events/stream.write.ts';
import { anonymousCaller } from '../../../domain/kernel/context.ts';
import { ok, openApp } from '../../support/harness.ts';
import { until } from '../../support/until.ts';

const sockets = new Set<Socket>();

const { t, db } = await openApp();
t.app.server.on('connection', (socket: Socket) => {
  sockets.add(socket);
  socket.on('close', () => sockets.delete(socket));
});
await t.app.listen({ port: 0, host: '127.0.0.1' });
const port = (t.app.server.address() as AddressInfo).port;

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });

/** Opens the stream and does not read it. */
const open = (headers: Record<string, string>): Promise<http.IncomingMessage> =>
  new Promise((resolve, reject) => {
    http
      .get({ port, host: '127.0.0.1', path: '/api/v1/events/stream', headers, agent: false }, resolve)
      .on('error', reject);
  });

async function textOf(answer: http.IncomingMessage): Promise<string> {
  let text = '';
  for await (const part of answer) text += part;
  return text;
}

it('are at most 8 of a user, and cost little memory however much there is to replay', async () => {
  // 40 MB of stored events for each stream, more than the buffers of any connection
  await db.raw(`insert into events (position, event_type, scope, data, at)
       select (select coalesce(max(position), 0) from events) + n, 'card.updated', 'inventory',
              jsonb_build_object('text', repeat('x', 10000)), now()
       from generate_series(1, 4000) as n`);
  const users = await Promise.all(['a', 'b', 'c'].map((name) => t.as('viewer', `stream ${name}`)));
  const opened: http.IncomingMessage[] = [];
  for (const { token } of users) {
    for (let n = 0; n < streamLimits.perUser; n += 1)
      opened.push(await open({ ...bearer(token), 'last-event-id': '0' }));
  }
  expect(opened.map(({ statusCode }) => statusCode)).toEqual(opened.map(() => 200));
  const refused = await users[0]!.get('/api/v1/events/stream');
  expect(refused).toMatchObject({ status: 429, body: { code: 'too_many_requests' } });
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);

  await until(
    'all streams to wait for their readers',
    async () => [...sockets].filter((socket) => socket.writableNeedDrain).length === opened.length,
  );
  const started = performance.now();
  await ok(users[0]!.get('/api/v1/cards'));
  expect(performance.now() - started).toBeLessThan(5_000);
  for (const socket of sockets) expect(socket.writableLength).toBeLessThan(128 * 1024);
  for (const socket of sockets)
    expect(socket.listenerCount('drain') + socket.listenerCount('close')).toBeLessThan(10);

  opened[0]!.destroy();
  await until('the slot to be free', async () => {
    const again = await open(bearer(users[0]!.token));
    again.destroy();
    return again.statusCode === 200;
  });
  for (const answer of opened) answer.destroy();
});

it('answers a HEAD request without holding a stream', async () => {
  const { token } = await t.as('viewer', 'head');
  for (let n = 0; n <= streamLimits.perUser; n += 1) {
    const answer = await t.app.inject({
      method: 'HEAD',
      url: '/api/v1/events/stream',
      headers: bearer(token),
    });
    expect(answer.statusCode).toBe(200);
  }
});

it('are refused with 503 beyond the bound of the process, and give their slot back once', () => {
  const slots = createStreamSlots({ perUser: 2, perProcess: 3 });
  const release = slots.take('a');
  slots.take('a');
  expect(() => slots.take('a')).toThrow(expect.objectContaining({ code: 'too_many_requests' }));
  slots.take('b');
  expect(() => slots.take('c')).toThrow(
    expect.objectContaining({ code: 'unavailable', headers: { 'retry-after': expect.any(String) } }),
  );
  release();
  release();
  slots.take('c');
  expect(() => slots.take('d')).toThrow(expect.objectContaining({ code: 'unavailable' }));
});

it('end with a frame that names the position to resume from', async () => {
  const isDrained = Promise.withResolvers<boolean>();
  const server = http.createServer(async (_request, response) => {
    const credential = { hash: '' };
    const caller = { ...anonymousCaller, userId: 'reader' };
    const subscriber = createSubscriber(t.services, response, credential, caller, {});
    const frame = Buffer.from(`data: ${'x'.repeat(60_000)}\n\n`);
    // until the connection takes no more
    while (subscriber.send(frame)) await turn();
    isDrained.resolve(await drained(response, 100));
    subscriber.endSlow(7);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port: own } = server.address() as AddressInfo;
  const answer = await new Promise<http.IncomingMessage>((resolve) => {
    http.get({ port: own, host: '127.0.0.1', agent: false }, resolve);
  });
  expect(await isDrained.promise).toBe(false);
  const frames = (await textOf(answer)).split('\n\n');
  expect(frames.at(-2)).toBe('id: 7\nevent: stream.end\ndata: {"position":"7","reason":"slow"}');
  server.close();
});
