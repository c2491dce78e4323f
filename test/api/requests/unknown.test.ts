import { expect, test } from 'vitest';
import { expectProblem, ok, openApp } from '../../support/harness.ts';

const { t, db, admin } = await openApp(['admin']);

test('an operation without a query refuses each key of one by its name', async () => {
  for (const url of ['/api/health/live', '/api/openapi.json', '/api/v1/auth/me']) {
    const answer = await admin.get(`${url}?page=1&a%00b=x`);
    expect(answer.status, url).toBe(422);
    const known = await admin.get(`${url}?page=1`);
    expect(known.body, url).toMatchObject({
      status: 422,
      code: 'validation_failed',
      errors: [{ field: 'page', code: 'unknown_field' }],
    });
    expect((await admin.get(`${url}?page=%00`)).status, url).toBe(422);
  }
});

test('an operation without a body refuses one, and takes an empty object for none', async () => {
  const { userId } = await t.as('member');
  const before = await db('events').count();
  for (const body of [{ reason: 'x' }, [], 'text', 1, true]) {
    const answer = await admin.post('/api/v1/auth/refresh', body);
    expect(answer.body, JSON.stringify(body)).toMatchObject({
      status: 422,
      errors: [{ field: 'body', code: 'unknown_field' }],
    });
    await expectProblem(admin.delete(`/api/v1/users/${userId}`, body), 422);
  }
  expect(await db('events').count()).toEqual(before);
  await ok(admin.post('/api/v1/auth/refresh', {}));
  await expectProblem(
    admin.request({
      method: 'POST',
      url: '/api/v1/auth/refresh',
      headers: { 'content-type': 'application/json' },
      payload: '{',
    }),
    400,
  );
  await expectProblem(
    admin.request({
      method: 'POST',
      url: '/api/v1/auth/refresh',
      headers: { 'content-type': 'application/xml' },
      payload: '<a/>',
    }),
    415,
  );
});

test('an address that is broken or too long is a problem of the input', async () => {
  for (const [part, code] of [
    ['%zz', 'format'],
    ['x'.repeat(600), 'maxLength'],
  ]) {
    for (const method of ['GET', 'DELETE'] as const) {
      const answer = await admin.request({ method, url: `/api/v1/cards/${part}` });
      expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
      expect(answer.body).toMatchObject({
        status: 422,
        code: 'validation_failed',
        errors: [{ field: 'path', code }],
        request_id: answer.headers['x-request-id'],
      });
    }
  }
});
