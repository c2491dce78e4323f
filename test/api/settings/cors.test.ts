import { expect, it } from 'vitest';
import { openApp } from '../../support/harness.ts';

const { t } = await openApp();

const origin = 'https://portal.example';
const preflight = async (url: string, from = origin) =>
  await t.app.inject({
    method: 'OPTIONS',
    url,
    headers: {
      origin: from,
      'access-control-request-method': 'PATCH',
      'access-control-request-headers': 'authorization,content-type',
    },
  });
const read = async (from: string) =>
  await t.app.inject({ url: '/api/v1/settings/currency', headers: { origin: from } });

it('is closed by default', async () => {
  const answer = await read(origin);
  expect(answer.statusCode).toBe(200);
  expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  expect(answer.headers.vary).toBe('Origin');
  const asked = await preflight('/api/v1/settings/currency');
  expect(asked.statusCode).toBe(405);
  expect(asked.headers['access-control-allow-methods']).toBeUndefined();
  expect((await preflight('/api/v1/nowhere')).statusCode).toBe(404);
});

it('opens for the origins of the settings, and for no other', async () => {
  const admin = await t.as('admin');
  await admin.patch('/api/v1/settings/cors-origins', { origins: [origin] });
  const answer = await read(origin);
  expect(answer.headers['access-control-allow-origin']).toBe(origin);
  expect(answer.headers['access-control-expose-headers']).toContain('X-Position');
  expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  const asked = await preflight('/api/v1/cards');
  expect(asked.statusCode).toBe(204);
  expect(asked.headers).toMatchObject({
    'access-control-allow-origin': origin,
    'access-control-allow-methods': expect.stringContaining('PATCH'),
    'access-control-allow-headers': 'authorization,content-type',
  });
  for (const other of ['https://portal.example.evil.example', 'http://portal.example', 'null']) {
    expect((await read(other)).headers['access-control-allow-origin']).toBeUndefined();
    expect((await preflight('/api/v1/cards', other)).statusCode).toBe(405);
  }
  const refused = await t.app.inject({ url: '/api/v1/cards', headers: { origin } });
  expect(refused.statusCode).toBe(401);
  expect(refused.headers['access-control-allow-origin']).toBe(origin);
});

it('tells caches apart by language as well', async () => {
  const answer = await t.app.inject({
    url: '/api/v1/metamodel/types',
    headers: { authorization: `Bearer ${(await t.as('viewer')).token}` },
  });
  expect(answer.headers.vary).toBe('Origin, Accept-Language');
});
