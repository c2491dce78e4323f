// @redis
import { randomUUID } from 'node:crypto';
import { issueSetupToken } from '../../domain/access/access.register.ts';
import { query } from '../../platform/database.ts';
import { bearer, loginAs, password, person, unthrottled } from '../support/accounts.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { createTestApp, type TestApp } from '../support/harness.ts';

/** How often each race is run: who wins is a matter of chance. */
const ROUNDS = 8;
let database: TestDatabase;
let apps: [TestApp, TestApp];
beforeAll(async () => {
  database = await createTestDatabase();
  const shared = { ...database, drop: async () => undefined };
  apps = [await createTestApp({}, shared), await createTestApp({}, shared)];
});
afterAll(async () => {
  for (const app of apps) await app.close();
  await database.drop();
});

/** The same request to both APIs at once, twice each. */
const race = async (url: string, body: unknown, headers: Record<string, string> = {}) => {
  await unthrottled(apps[0]);
  const answers = await Promise.all(
    [...apps, ...apps].map((app) => app.anonymous.post(`/api/v1${url}`, body, headers)),
  );
  return answers.sort((a, b) => a.status - b.status);
};
const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status);

it('makes one administrator of several first registrations', async () => {
  const setup_token = (await issueSetupToken(apps[0].services.db))!;
  await unthrottled(apps[0]);
  const answers = await Promise.all(
    [0, 1, 2, 3].map((n) =>
      apps[n % 2]!.anonymous.post('/api/v1/auth/register', {
        email: `first-${n}@estate.example`,
        display_name: 'First',
        password,
        setup_token,
      }),
    ),
  );
  expect(statuses(answers).sort()).toEqual([200, 403, 403, 403]);
  expect(await apps[0].services.db('users').where({ role: 'admin' })).toHaveLength(1);
});

it('takes a mailed token and an idempotency key once, whichever APIs are asked', async () => {
  const admin = await apps[0].as('admin', 'racer');
  for (let round = 0; round < ROUNDS; round += 1) {
    const email = `${randomUUID()}@estate.example`;
    const invited = await admin.post('/api/v1/users', { email, display_name: 'I', role: 'viewer' });
    const set = await race('/auth/set-password', { token: invited.body.setup_token, password });
    expect(statuses(set)).toEqual([200, 404, 404, 404]);

    const name = randomUUID();
    const headers = { ...bearer(admin.token), 'idempotency-key': randomUUID() };
    const cards = await race('/cards', { type: 'Application', name }, headers);
    for (const { status } of cards) expect([201, 409]).toContain(status);
    expect(await apps[0].services.db('cards').where({ name })).toHaveLength(1);
    expect(new Set(cards.filter(({ status }) => status === 201).map(({ body }) => body.id)).size).toBe(1);
  }
});

it('keeps an administrator when two take each other away', async () => {
  const { db } = apps[0].services;
  for (let round = 0; round < ROUNDS; round += 1) {
    await db('users').where({ role: 'admin' }).update({ role: 'viewer' });
    const two = [await person(apps[0], { role: 'admin' }), await person(apps[0], { role: 'admin' })];
    const tokens = await Promise.all(
      two.map(async (who) => (await loginAs(apps[0], who)).body.access_token as string),
    );
    const act = round % 2 === 0 ? { is_active: false } : { role: 'viewer' };
    const answers = await Promise.all(
      apps.map((app, n) => app.anonymous.patch(`/api/v1/users/${two[1 - n]!.id}`, act, bearer(tokens[n]!))),
    );
    expect(statuses(answers).filter((status) => status === 200)).toHaveLength(1);
    expect(await db('users').where({ role: 'admin', is_active: true })).toHaveLength(1);
  }
});

it('leaves nothing to a user who is deleted meanwhile, and fails in no other way than that the user is unknown', async () => {
  const admin = await apps[0].as('admin', 'keeper');
  const card = (await admin.post('/api/v1/cards', { type: 'Application', name: randomUUID() })).body.id;
  const initiative = (await admin.post('/api/v1/cards', { type: 'Initiative', name: randomUUID() })).body.id;
  for (let round = 0; round < ROUNDS; round += 1) {
    const leaver = await apps[0].as('member', `leaver ${round}`);
    const mine = { ...bearer(leaver.token) };
    const api = (n: number) => apps[n % 2]!.anonymous;
    const assigned = [
      ['/risks', { title: randomUUID(), owner_id: leaver.userId }],
      [`/cards/${card}/todos`, { description: 'Look', assigned_to: leaver.userId }],
      [`/cards/${card}/stakeholders`, { user_id: leaver.userId, role: 'responsible' }],
      [`/ppm/initiatives/${initiative}/tasks`, { title: 'Do', assignee_id: leaver.userId }],
    ] as const;
    const [deleted, ...answers] = await Promise.all([
      api(0).delete(`/api/v1/users/${leaver.userId}`, undefined, bearer(admin.token)),
      ...assigned.map(([url, body], n) => api(n).post(`/api/v1${url}`, body, bearer(admin.token))),
      api(1).post(`/api/v1/favorites/${card}`, undefined, mine),
      api(0).post('/api/v1/events/ticket', undefined, mine),
    ]);
    expect(deleted!.status).toBe(204);
    for (const { status } of answers.slice(0, 4)) expect([201, 422]).toContain(status);
    for (const { status } of answers.slice(4)) expect([200, 201, 204, 401]).toContain(status);
    const { db } = apps[0].services;
    for (const [table, column] of Object.entries({
      risks: 'owner_id',
      todos: 'assigned_to',
      stakeholders: 'user_id',
      ppm_tasks: 'assignee_id',
    }))
      expect(await db(table).where({ [column]: leaver.userId })).toEqual([]);
  }
});

it('takes no more rows of an initiative than the limit, however many requests come at once', async () => {
  const admin = await apps[0].as('admin', 'keeper');
  const initiative = (await admin.post('/api/v1/cards', { type: 'Initiative', name: randomUUID() })).body.id;
  const url = `/ppm/initiatives/${initiative}/reports`;
  const report = {
    report_date: '2026-01-01',
    schedule_health: 'onTrack',
    cost_health: 'onTrack',
    scope_health: 'onTrack',
  };
  await admin.create(`/api/v1${url}`, report);
  await query(apps[0].services.db).run`
     insert into ppm_reports (card_id, report_date, schedule_health, cost_health, scope_health)
     select card_id, report_date, schedule_health, cost_health, scope_health
     from ppm_reports, generate_series(1, 996) where card_id = ${initiative}`;
  const answers = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      apps[n % 2]!.anonymous.post(`/api/v1${url}`, report, bearer(admin.token)),
    ),
  );
  expect(statuses(answers).sort()).toEqual([201, 201, 201, ...Array(9).fill(409)]);
});

it('stars a card or not, however often it is starred and unstarred at once', async () => {
  const admin = await apps[0].as('admin', 'stars');
  const { id } = (await admin.post('/api/v1/cards', { type: 'Application', name: randomUUID() })).body;
  const answers = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      n % 2 ? admin.post(`/api/v1/favorites/${id}`) : admin.delete(`/api/v1/favorites/${id}`),
    ),
  );
  for (const { status } of answers) expect([201, 204, 404]).toContain(status);
});
