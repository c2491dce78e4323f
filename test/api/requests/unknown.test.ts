import { expect, test } from 'vitest';
import { closeAfterAll, createTestApp } from '../../support/harness.ts';

const t = closeAfterAll(await createTestApp());
const admin = await t.as('admin');

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
  const before = await t.services.db('events').count();
  for (const body of [{ reason: 'x' }, [], 'text', 1, true]) {
    const answer = await admin.post('/api/v1/auth/refresh', body);
    expect(answer.body, JSON.stringify(body)).toMatchObject({
      status: 422,
      errors: [{ field: 'body', code: 'unknown_field' }],
    });
    expect((await admin.delete(`/api/v1/users/${userId}`, body)).status).toBe(422);
  }
  expect(await t.services.db('events').count()).toEqual(before);
  expect((await admin.post('/api/v1/auth/refresh', {})).status).toBe(200);
  const broken = await admin.request({
    method: 'POST',
    url: '/api/v1/auth/refresh',
    headers: { 'content-type': 'application/json' },
    payload: '{',
  });
  expect(broken.status).toBe(400);
  const foreign = await admin.request({
    method: 'POST',
    url: '/api/v1/auth/refresh',
    headers: { 'content-type': 'application/xml' },
    payload: '<a/>',
  });
  expect(foreign.status).toBe(415);
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
