import Type from 'typebox';
import { createBodyCheck } from '../../../api/plugins/validation.ts';
import { invalidField } from '../../../platform/errors.ts';
import { roleWith } from '../../support/accounts.ts';
import { expectInvalid, expectProblem, ok, openApp } from '../../support/harness.ts';

const words = (...values: string[]) => Type.Union(values.map((value) => Type.Literal(value)));
const check = createBodyCheck(
  Type.Object(
    {
      fn: Type.Optional(words('count', 'sum')),
      sort: Type.Optional(Type.Union([words('name', 'cost'), Type.Null()])),
      metric: Type.Optional(Type.Unsafe<string>({ type: 'string', enum: ['users', 'cost'] })),
      day: Type.Optional(Type.String({ format: 'date' })),
      at: Type.Optional(Type.String({ format: 'date-time' })),
      id: Type.Optional(Type.String({ format: 'uuid', pattern: '^[0-9a-fA-F-]{36}$' })),
      due: Type.Optional(Type.Union([Type.String({ format: 'date' }), Type.Null()])),
      part: Type.Optional(Type.Union([Type.Object({ n: Type.Integer() }), Type.Null()])),
      either: Type.Optional(Type.Union([Type.String(), Type.Integer(), Type.Null()])),
      many: Type.Optional(words(...Array.from({ length: 40 }, (_, index) => `v${index}`))),
      form: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Object({})])),
      list: Type.Optional(Type.Array(Type.Object({ op: words('<', '>') }), { minItems: 1 })),
      'odd/key~': Type.Optional(Type.Boolean()),
    },
    { additionalProperties: false },
  ),
);

test('a value that is not allowed is reported once, with all that are', () => {
  expect(check({ fn: 'median' })).toEqual([
    { field: 'fn', code: 'enum', message: 'must be one of "count", "sum"' },
  ]);
  expect(check({ sort: 'age' })).toEqual([
    { field: 'sort', code: 'enum', message: 'must be one of "name", "cost"' },
  ]);
  expect(check({ sort: null })).toEqual([]);
  expect(check({ metric: 'x' })).toEqual([
    { field: 'metric', code: 'enum', message: 'must be one of "users", "cost"' },
  ]);
  expect(check({ list: [{ op: '<' }, { op: '=' }] })).toEqual([
    { field: 'list.1.op', code: 'enum', message: 'must be one of "<", ">"' },
  ]);
  const [many] = check({ many: 'x' });
  expect(many!.message).toMatch(/^must be one of "v0", .*"v29" and 10 more$/);
});

test('a text of another format is reported once, in words', () =>
  expect(check({ id: 'abc', day: 'yesterday', at: '2026-01-01' })).toEqual([
    { field: 'day', code: 'format', message: 'is not a date, such as 2026-01-31' },
    { field: 'at', code: 'format', message: expect.stringMatching(/^is not an RFC 3339 time/) },
    { field: 'id', code: 'format', message: 'is not a UUID' },
  ]));

test('an error of a value that may be null as well is reported once', () => {
  expect(check({ due: null, part: null, either: null })).toEqual([]);
  expect(check({ due: '2026-02-30' })).toEqual([
    { field: 'due', code: 'format', message: 'is not a date, such as 2026-01-31' },
  ]);
  expect(check({ due: 7 })).toEqual([{ field: 'due', code: 'type', message: 'must be string' }]);
  expect(check({ part: { n: 'x' } })).toEqual([
    { field: 'part.n', code: 'type', message: 'must be integer' },
  ]);
  expect(check({ part: {} })).toEqual([{ field: 'part.n', code: 'required', message: 'is required' }]);
  // which of several forms was meant is not known
  expect(check({ either: {} }).map(({ code }) => code)).toContain('anyOf');
});

test('all errors are reported, each with its field', () => {
  const faults = check({ fn: 1, other: true, list: [], 'odd/key~': 'x' });
  expect(faults.map(({ field, code }) => [field, code])).toEqual(
    expect.arrayContaining([
      ['other', 'unknown_field'],
      ['fn', 'enum'],
      ['list', 'minItems'],
      ['odd/key~', 'type'],
    ]),
  );
  expect(check({ form: 5 }).map(({ code }) => code)).toContain('anyOf');
  expect(check([])).toEqual([{ field: 'body', code: 'type', message: 'must be object' }]);
});

test('a refusal of one field names it in its sentence, unless that is one of its own', () => {
  expect(invalidField('parent_id', 'parent_cycle', 'lies below the item itself').message).toBe(
    'parent_id: lies below the item itself',
  );
  expect(invalidField('file', 'empty_file', 'The file is empty.').message).toBe('The file is empty.');
});

const { t, db, admin } = await openApp(['admin']);
test('an operation without a query refuses each key of one by its name', async () => {
  for (const url of ['/api/health/live', '/api/openapi.json', '/api/v1/auth/me']) {
    expect((await admin.get(`${url}?page=1&a%00b=x`)).status, url).toBe(422);
    expect((await admin.get(`${url}?page=1`)).body, url).toMatchObject({
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
    expect((await admin.post('/api/v1/auth/refresh', body)).body, JSON.stringify(body)).toMatchObject({
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

const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 1]));
describe('input', () => {
  it('with more errors than anybody reads is answered with the first hundred', async () => {
    const answer = await admin.post('/api/v1/cards', keys(7_000));
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toHaveLength(100);
    expect(answer.text.length).toBeLessThan(20_000);
  });

  it('with more attributes than a card may have is refused before they are looked at', async () => {
    for (const strict_attributes of [true, false]) {
      const body = { type: 'Application', name: 'Many', attributes: keys(130_000), strict_attributes };
      await expectInvalid(admin.post('/api/v1/cards', body), 'attributes');
    }
    const within = { type: 'Application', name: 'Many', attributes: keys(900) };
    expect((await admin.post('/api/v1/cards', within)).body.errors).toHaveLength(100);
  });

  it.each([
    'events?since=0000-01-01T00:00:00Z',
    'mutation-batches?until=0000-01-01T00:00:00Z',
    'reports/kpis?from=0000-01-01T00:00:00Z',
    'adr?date_from=0000-01-01',
    'settings/ai/usage?day=0000-01-01',
  ])('with a date that the database does not have is refused: %s', async (path) => {
    await expectProblem(admin.get(`/api/v1/${path}`), 422);
  });

  it('with a key outside of the pattern of a map is refused', async () => {
    const answer = await admin.put('/api/v1/process-catalogue', {
      catalogue_version: '1',
      nodes: [{ id: 'a', names: { en: 'A', '*': true } }],
    });
    expect([answer.status, answer.body.errors[0].code]).toEqual([422, 'unknown_field']);
  });

  it('that names no event or card type is refused by the stream', async () => {
    for (const query of ['events=nope', 'types=Nope', 'events=card,nope.created'])
      expect((await admin.get(`/api/v1/events/stream?${query}`)).status, query).toBe(422);
  });

  it('is not needed by a POST whose members may all be missing', async () => {
    const opened = await admin.post('/api/v1/mutation-batches', { tool_name: 'Test' });
    await ok(admin.request({ method: 'POST', url: `/api/v1/mutation-batches/${opened.body.id}/commit` }));
  });
});

it('a kept answer is not given again to somebody who has lost a permission', async () => {
  const role = await roleWith(t, 'inventory.view', 'inventory.create', 'inventory.edit', 'costs.view');
  const writer = await t.as(role, 'writer');
  const create = () =>
    writer.request({
      method: 'POST',
      url: '/api/v1/cards',
      headers: { 'content-type': 'application/json', 'idempotency-key': 'once' },
      payload: JSON.stringify({ type: 'Application', name: 'Kept', attributes: { costTotalAnnual: 4711 } }),
    });
  expect((await create()).body.attributes.costTotalAnnual).toBe(4711);
  await ok(create(), 201);
  const permissions = { 'inventory.view': true, 'inventory.create': true };
  await ok(admin.patch(`/api/v1/roles/${role}`, { permissions }));
  const again = await create();
  await expectProblem(again, 409, 'idempotency_key_reused');
  expect(again.text).not.toContain('4711');
});

it('a body of very many members is refused for the first fault', async () => {
  const unknown = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`k${n}`, n]));
  const answer = await admin.post('/api/v1/cards', { type: 'Application', name: 'Many', ...unknown });
  expect([answer.status, answer.body.errors.length]).toEqual([422, 1]);
});

it('serves other users while one of them sends many reads that the database takes long for', async () => {
  const reader = await t.as('viewer');
  const other = await t.as('member');
  // every read of cards waits for this lock
  const blocker = await db.transaction();
  await blocker.raw('lock table card_merges in access exclusive mode');
  let answered = 0;
  const many = Array.from({ length: 30 }, async () => {
    const { status } = await reader.get('/api/v1/card-merges');
    answered += 1;
    return status;
  });
  await ok(other.get('/api/v1/cards?page_size=1'));
  expect(answered).toBe(0);
  await blocker.rollback();
  expect(new Set(await Promise.all(many))).toEqual(new Set([200]));
});
