import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { createApp } from '../../../api/app.ts';
import { openApp } from '../../support/harness.ts';

const { t, admin } = await openApp(['admin']);

it('a client that leaves during a response is no unexpected failure', async () => {
  const lines: string[] = [];
  const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(line) });
  const [arrived, left] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const at = async () => {
    arrived.resolve();
    await left.promise;
    throw Object.assign(new Error('Premature close'), { code: 'ERR_STREAM_PREMATURE_CLOSE' });
  };
  const app = await createApp({ ...t.services, log, metamodels: { ...t.services.metamodels, at } });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const connected = once(app.server, 'connection');
  const { port } = app.server.address() as AddressInfo;
  const headers = { authorization: `Bearer ${admin.token}` };
  const request = http.get({ port, path: '/api/v1/auth/me', headers }).on('error', () => undefined);
  const [socket] = await connected;
  await arrived.promise;
  const closed = once(socket, 'close');
  request.destroy();
  await closed;
  left.resolve();
  await app.close();
  expect(lines.join()).not.toContain('unexpected failure');

  const other = await createApp({ ...t.services, log, metamodels: { ...t.services.metamodels, at } });
  await other.inject({ url: '/api/v1/auth/me', headers });
  await other.close();
  expect(lines.join()).toContain('unexpected failure');
});
