import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { pino } from 'pino';
import { inject } from 'vitest';
import { createQueueBackend } from '../../platform/queue/queue.ts';
import { createTestDatabase } from '../support/database.ts';
import { until } from '../support/until.ts';

/** What PostgreSQL says when it is told to end: ErrorResponse of severity FATAL with SQLSTATE 57P01. */
const SHUTDOWN = message(
  'E',
  'SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0',
);
const READY = message('Z', 'I');

/** A message of PostgreSQL's protocol: its letter, its length and what it holds. */
function message(letter: string, content: string): Buffer {
  const buffer = Buffer.alloc(5 + content.length);
  buffer.write(letter, 0, 'latin1');
  buffer.writeInt32BE(4 + content.length, 1);
  buffer.write(content, 5, 'latin1');
  return buffer;
}

const database = await createTestDatabase();

afterAll(() => database.drop());

/** A way to the database that, while `ending`, lets each connection begin and ends it in the same breath. */
async function openWay(url: string) {
  const { hostname, port } = new URL(inject('serverUrl'));
  const sockets = new Set<Socket>();
  const way = { ending: false, ended: 0 };
  const server = createServer((client) => {
    const remote = connect(Number(port), hostname);
    for (const socket of [client, remote]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        remote.destroy();
      });
    }
    client.pipe(remote);
    remote.on('data', (data) => {
      if (!way.ending || !data.includes(READY)) {
        client.write(data);
        return;
      }
      way.ended += 1;
      client.end(Buffer.concat([data, SHUTDOWN]));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const to = new URL(url);
  to.host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: to.href,
    way,
    /** Breaks every connection there is. */
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

// an error that nobody listens to would end a process, and ends this run
it('stands connections that end the moment they have begun, and goes on afterwards', async () => {
  const { url, way, cut, close } = await openWay(database.url);
  const queue = createQueueBackend({
    redisUrl: undefined,
    databaseUrl: url,
    namespace: 'loss',
    log: pino({ level: 'silent' }),
  });
  const seen: string[] = [];
  const worker = queue.worker('bulk', 2, async ({ id }) => void seen.push(id));
  try {
    await until('the first run', async () => {
      await queue.add('bulk', 'first-1', { id: 'first', attempt: 1 }).catch(() => undefined);
      return seen.includes('first');
    });
    way.ending = true;
    cut();
    await until('connections to be ended', async () => way.ended > 20);
    way.ending = false;
    await until('the second run', async () => {
      await queue.add('bulk', 'second-1', { id: 'second', attempt: 1 }).catch(() => undefined);
      return seen.includes('second');
    });
  } finally {
    await worker.close(true);
    await queue.close();
    await close();
  }
  expect(new Set(seen)).toEqual(new Set(['first', 'second']));
});
