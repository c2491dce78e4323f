import net, { type AddressInfo } from 'node:net';
import { inject } from 'vitest';
import { createTestDatabase } from '../support/database.ts';
import { createPlace } from '../support/processes.ts';

const place = await createPlace();
const database = await createTestDatabase();

afterAll(async () => {
  await place.clear();
  await database.drop();
});

const AWAY_MS = 1_000;

/** A way to the database that is cut once, after so many messages, and closed for a second. */
async function cutAfter(messages: number): Promise<{ url: string; wasCut(): boolean; close(): void }> {
  const to = new URL(inject('serverUrl'));
  const sockets = new Set<net.Socket>();
  let left = messages;
  let awayUntil = 0;
  const cut = () => {
    awayUntil = Date.now() + AWAY_MS;
    for (const socket of sockets) socket.destroy();
  };
  const server = net.createServer((client) => {
    if (Date.now() < awayUntil) {
      client.destroy();
      return;
    }
    const upstream = net.connect(Number(to.port), to.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => socket.destroy());
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on('data', (data) => {
      left -= 1;
      if (left === 0) cut();
      else client.write(data);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = new URL(database.url);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return { url: url.href, wasCut: () => awayUntil > 0, close: () => server.close() };
}

it.each([3, 6, 12, 25])(
  'a worker whose connection is lost while it starts waits and goes on (message %i)',
  async (messages) => {
    const way = await cutAfter(messages);
    const worker = place.start('worker', {
      DATABASE_URL: way.url,
      SECRET_KEY: 'a-secret-key-for-tests-of-32-characters-or-more',
      LOG_LEVEL: 'info',
    });
    await worker.until(/the worker is ready/);
    expect(way.wasCut()).toBe(true);
    worker.kill('SIGTERM');
    expect((await worker.ended()).code).toBe(0);
    way.close();
  },
  90_000,
);
