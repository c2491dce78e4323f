// @redis
import { command } from '../../../domain/kernel/command.ts';
import { ok, openApp, pluck, type TestClient } from '../../support/harness.ts';

const url = '/api/v1/reports';
const id: Record<string, string> = {};

const card = async (name: string, more: object = {}) => {
  id[name] = (await member.card({ name, ...more })).id;
};
const holds = async (client: TestClient, name: string, role: string) => {
  await admin.create(`/api/v1/cards/${id[name]}/stakeholders`, { user_id: client.userId, role });
};
const todo = (on: string, body: object = {}) =>
  admin.create(`/api/v1/cards/${id[on]}/todos`, { description: 'Look', ...body });

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
for (const name of ['a', 'b', 'c']) await card(name);
await card('component', { type: 'ITComponent' });
await card('gone');
await holds(viewer, 'a', 'responsible');
await holds(viewer, 'a', 'observer');
await holds(viewer, 'b', 'observer');
await holds(viewer, 'component', 'observer');
await holds(member, 'b', 'observer');
await holds(viewer, 'gone', 'observer');
await viewer.post(`/api/v1/favorites/${id.c}`);
await todo('c', { assigned_to: viewer.userId, due_date: '2020-01-02', description: 'The oldest' });
await todo('a', { assigned_to: viewer.userId, due_date: '2999-01-01' });
await todo('a');
await todo('b', { assigned_to: member.userId, due_date: '2020-01-03' });
await command(await t.ctx(), async ({ sql, raise }) => {
  await sql('cards').where({ id: id.a! }).update({ approval_status: 'BROKEN' });
  await sql('cards').where({ id: id.c! }).update({ approval_status: 'APPROVED' });
  const old = '2020-01-01T00:00:00Z';
  await sql('cards').where({ id: id.b! }).update({ created_at: old, updated_at: old });
  await sql('events').where({ card_id: id.b! }).whereLike('event_type', 'card.%').update({ at: old });
  const [survey] = await sql('surveys')
    .insert({ name: 'Asked', status: 'active', target_type_key: 'Application' })
    .returning('id');
  await sql('survey_responses').insert({ survey_id: survey.id, card_id: id.b!, user_id: viewer.userId });
  raise('cards:Application');
});
await ok(admin.post(`/api/v1/cards/${id.gone}/archive`, {}));

describe('my workspace', () => {
  const own = async (client: TestClient, query = '') => {
    const { position: _, ...figures } = await ok(client.get(`${url}/my-workspace${query}`));
    return figures;
  };

  it('counts what is the caller’s, on active cards', async () => {
    expect(await own(viewer)).toEqual({
      favorite_count: 1,
      stakeholder_card_count: 3,
      open_todo_count: 2,
      pending_survey_count: 1,
      attention_count: 3,
      overdue_todo_count: 1,
      broken_card_count: 1,
      created_count: 0,
    });
    expect(await own(member)).toMatchObject({ created_count: 4, stakeholder_card_count: 1 });
    expect(await own(viewer, '?filter=name%20%3D%20c')).toMatchObject({
      favorite_count: 1,
      stakeholder_card_count: 0,
      open_todo_count: 1,
      attention_count: 1,
    });
  });

  it('is as new as the last write, and known by its ETag', async () => {
    const before = await member.get(`${url}/my-workspace`);
    const known = { 'if-none-match': before.headers.etag as string };
    await ok(member.get(`${url}/my-workspace`, known), 304);
    await member.post(`/api/v1/favorites/${id.b}`);
    const after = await ok(member.get(`${url}/my-workspace`, known));
    expect(after.favorite_count).toBe(before.body.favorite_count + 1);
  });

  it('is shown as it was', async () => {
    const before = await own(viewer);
    const { rows } = await db.raw('select utc(max(at)) as at from events');
    await viewer.delete(`/api/v1/favorites/${id.c}`);
    await todo('b', { assigned_to: viewer.userId });
    expect(await own(viewer)).not.toEqual(before);
    expect(await own(viewer, `?as_of=${rows[0].at}`)).toEqual(before);
    await viewer.post(`/api/v1/favorites/${id.c}`);
  });
});

it('the administrators’ dashboard counts people, responsibilities, approvals and todos', async () => {
  await db('users')
    .where({ id: viewer.userId })
    .update({ last_login: '2020-01-01T00:00:00Z', created_at: '2020-01-01T00:00:00Z' });
  await db('users').where({ id: member.userId }).update({ last_login: new Date() });
  const body = await ok(admin.get(`${url}/admin-dashboard`));
  const [{ people }] = await db('users')
    .where({ kind: 'person', is_active: true })
    .select(db.raw('count(*)::int as people'));
  expect(body.kpis).toMatchObject({
    total_users: people,
    cards_without_stakeholders: 1,
    overdue_todos_total: 2,
    stuck_approvals: 1,
    broken_total: 1,
  });
  expect(body.kpis.active_users_30d).toBeGreaterThan(0);
  expect(body.stakeholder_coverage).toEqual([
    { type: 'Application', total: 3, with_stakeholders: 2, missing: 1 },
    { type: 'ITComponent', total: 1, with_stakeholders: 1, missing: 0 },
  ]);
  expect(body.approval_pipeline).toEqual([
    { type: 'Application', draft: 1, approved: 1, rejected: 0, broken: 1 },
    { type: 'ITComponent', draft: 1, approved: 0, rejected: 0, broken: 0 },
  ]);
  expect(body.idle_users).toEqual([
    expect.objectContaining({ id: viewer.userId, last_login: '2020-01-01T00:00:00.000Z' }),
  ]);
  expect(body.oldest_overdue_todos).toEqual([
    expect.objectContaining({ description: 'The oldest', card_id: id.c, card_name: 'c' }),
    expect.objectContaining({ due_date: '2020-01-03', card_id: id.b }),
  ]);
  const contributors = pluck(body.top_contributors, 'user_id');
  expect(contributors.slice(0, 2).sort()).toEqual([admin.userId, member.userId].sort());
  expect(body.recent_activity[0].event_type).toMatch(/^(card|tag|relation)\./);
  const { body: all } = await admin.get(`${url}/admin-dashboard?top=0`);
  expect(all).toMatchObject({ recent_activity: [], idle_users: [], oldest_overdue_todos: [] });
  const csv = await admin.get(`${url}/admin-dashboard?table=approval_pipeline`, { accept: 'text/csv' });
  expect(csv.text.split('\r\n')[1]).toBe('Application,1,1,0,1');
});

it('the administrators’ dashboard is shown as it was', async () => {
  const ofCards = async (query = '') => {
    const body = await ok(admin.get(`${url}/admin-dashboard${query}`));
    return [body.stakeholder_coverage, body.approval_pipeline, body.kpis.stuck_approvals];
  };
  const before = await ofCards();
  const { rows } = await db.raw('select utc(max(at)) as at from events');
  await ok(admin.patch(`/api/v1/cards/${id.b}`, { description: 'Looked at again' }));
  expect((await ofCards()).at(-1)).toBe(0);
  expect(await ofCards(`?as_of=${rows[0].at}`)).toEqual(before);
  await card('later');
  expect(await ofCards(`?as_of=${rows[0].at}`)).toEqual(before);
  expect(before.at(-1)).toBe(1);
});

describe('the directory of stakeholders', () => {
  interface Role {
    role_key: string;
    users: { user_id: string; card_count: number; cards: { name: string }[] }[];
  }
  const directory = async (query = '') =>
    (await ok(admin.get(`${url}/stakeholder-directory${query}`))).card_types as {
      type_key: string;
      holders_count: number;
      roles: Role[];
    }[];
  const observers = (types: { type_key: string; roles: Role[] }[]) =>
    types
      .find(({ type_key }) => type_key === 'Application')!
      .roles.find(({ role_key }) => role_key === 'observer')!.users;
  const held = (users: Role['users'], userId: string) => users.find(({ user_id }) => user_id === userId)!;

  it('lists every holder with a page of their cards', async () => {
    const types = await directory();
    expect(types.find(({ type_key }) => type_key === 'Application')!.holders_count).toBe(2);
    expect(types.find(({ type_key }) => type_key === 'Provider')!.holders_count).toBe(0);
    const users = observers(types);
    expect(users).toHaveLength(2);
    expect(held(users, viewer.userId)).toMatchObject({
      card_count: 2,
      cards: [
        { id: id.a, name: 'a' },
        { id: id.b, name: 'b' },
      ],
    });
    const second = observers(await directory('?cards=1&cards_page=2'));
    expect(held(second, viewer.userId)).toMatchObject({ card_count: 2, cards: [{ name: 'b' }] });
    expect(held(second, member.userId)).toMatchObject({ card_count: 1, cards: [] });
  });

  it('is narrowed to a type, a role, a user or cards', async () => {
    const [only, ...others] = await directory('?type=Application&role=responsible');
    expect(others).toEqual([]);
    expect(only!.roles.map(({ role_key }) => role_key)).toEqual(['responsible']);
    expect(only!.holders_count).toBe(1);
    expect(observers(await directory(`?user_id=${member.userId}`))).toHaveLength(1);
    expect(held(observers(await directory('?filter=name%20%3D%20b')), viewer.userId).card_count).toBe(1);
    const refused = async (query: string) =>
      (await admin.get(`${url}/stakeholder-directory?${query}`)).status;
    expect(await refused('type=Nothing')).toBe(422);
    expect(await refused('role=nothing')).toBe(422);
    expect(await refused('cards=1001')).toBe(422);
  });

  it('is offered as tables', async () => {
    const csv = async (query: string) =>
      (await admin.get(`${url}/stakeholder-directory?${query}`, { accept: 'text/csv' })).text
        .trim()
        .split('\r\n');
    expect(await csv('type=Application&role=observer')).toHaveLength(3);
    expect(await csv('type=Application&role=observer&table=cards')).toHaveLength(4);
  });
});

it('each has a picture', async () => {
  for (const report of ['my-workspace', 'admin-dashboard', 'stakeholder-directory']) {
    const picture = await admin.get(`${url}/${report}`, { accept: 'image/svg+xml' });
    expect(picture.status, report).toBe(200);
    expect(picture.text).toMatch(/^<svg/);
  }
});
