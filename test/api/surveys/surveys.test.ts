import { randomUUID } from 'node:crypto';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { tellAll, toldTo } from '../../support/notifications.ts';
import { openDesk, surveys as url } from './surveys.fixture.ts';
import expectedSurvey from './surveys.survey.json' with { type: 'json' };

const { t, db, sql } = await openApp();
const d = await openDesk(t);
const admin = d.admin;
const ann = await t.as('member', 'Ann');
const bob = await t.as('viewer', 'Bob');

describe('a draft', () => {
  it('is written, read, listed, changed and deleted, and each step is told to those who manage surveys', async () => {
    const since = await admin.position();
    const id = await d.draft([], { name: ' Owners? ' });
    const read = await admin.get(`${url}/${id}`);
    expect(read.body).toMatchObject(expectedSurvey);
    const patched = await admin.patch(
      `${url}/${id}`,
      { message: 'Please.', description: null },
      { 'if-match': read.headers.etag! },
    );
    expect(patched.body).toMatchObject({ message: 'Please.', description: null, fields: read.body.fields });
    const list = await admin.get(`${url}?status=draft&search=owners&fields=id,status`);
    expect(list.body.items).toContainEqual({ id, status: 'draft' });
    expect((await admin.get(`${url}?cursor=&page_size=1`)).body.items).toHaveLength(1);
    await ok(admin.delete(`${url}/${id}`), 204);
    const told = await d.events(since, 'survey.created,survey.updated,survey.deleted');
    expect(pluck(told, 'event_type')).toEqual(['survey.created', 'survey.updated', 'survey.deleted']);
    const { changes } = told[1].data;
    expect(changes).toEqual({ description: { old: '', new: null }, message: { old: '', new: 'Please.' } });
    expect(await d.events(since, 'survey.created', ann)).toEqual([]);
  });

  it.each([
    [{ name: ' ' }, 'name'],
    [{ target_type_key: 'NoSuch' }, 'target_type_key'],
    [{ fields: [{ key: 'noSuch' }] }, 'fields.0.key'],
    [{ fields: [{ key: 'timeModel' }, { key: 'timeModel' }] }, 'fields.1.key'],
    [{ target_type_key: 'BusinessCapability', fields: [{ key: 'capabilityLevel' }] }, 'fields.0.key'],
    [{ target_roles: ['noSuch'] }, 'target_roles.0'],
    [{ target_filters: { card_ids: [randomUUID()] } }, 'target_filters.card_ids.0'],
    [{ target_filters: { tag_ids: [randomUUID()] } }, 'target_filters.tag_ids.0'],
    [{ target_filters: { filter: 'name = ' } }, 'target_filters.filter'],
    [
      { target_filters: { attribute_filters: [{ key: 'noSuch', op: 'is_empty' }] } },
      'target_filters.attribute_filters.0.key',
    ],
    [
      { target_filters: { attribute_filters: [{ key: 'timeModel', op: 'eq' }] } },
      'target_filters.attribute_filters.0.value',
    ],
    [
      { target_filters: { attribute_filters: [{ key: 'timeModel', op: 'eq', value: 'noSuch' }] } },
      'target_filters.attribute_filters.0',
    ],
    [{ status: 'active' }, 'status'],
  ])('is refused with %j', async (more, field) => {
    const body = { name: 'X', target_type_key: 'Application', ...more };
    const answer = await admin.post(url, body);
    expect(answer.status, answer.text).toBe(422);
    expect(pluck(answer.body.errors, 'field')).toEqual([field]);
  });

  it('that moves to another type is checked against that', async () => {
    const id = await d.draft([]);
    const answer = await admin.patch(`${url}/${id}`, { target_type_key: 'Provider' });
    expect(pluck(answer.body.errors, 'field')).toContain('fields.0.key');
    const moved = await admin.patch(`${url}/${id}`, { target_type_key: 'Provider', fields: null });
    expect(moved.body).toMatchObject({ target_type_key: 'Provider', fields: [] });
  });
});

it('targets are the active cards that the filters select, with those who hold a role on them', async () => {
  const both = await d.card(
    { name: 'Alpha', attributes: { timeModel: 'invest', numberOfUsers: 9 } },
    ann,
    bob,
  );
  const one = await d.card({ name: 'Beta', attributes: { numberOfUsers: 1 } }, bob);
  const away = await d.card({}, ann);
  await admin.post(`/api/v1/cards/${away}/archive`);
  const cards = [both, one, away, await d.card()];
  const preview = async (filters: object, page = '') => {
    const id = await d.draft([], { target_filters: { card_ids: cards, ...filters } });
    return (await admin.post(`${url}/${id}/preview${page}`)).body;
  };
  expect(await preview({})).toMatchObject({
    total_cards: 2,
    total_users: 2,
    targets: [
      {
        card_id: both,
        card_name: 'Alpha',
        card_type: 'Application',
        users: [{ user_id: ann.userId, display_name: 'Ann', role: 'responsible' }, { user_id: bob.userId }],
      },
      { card_id: one, users: [{ user_id: bob.userId }] },
    ],
  });
  const second = await preview({}, '?page=2&page_size=1');
  expect(second).toMatchObject({ total_cards: 2, page: 2, page_size: 1, targets: [{ card_id: one }] });
  const ids = async (filters: object) => pluck((await preview(filters)).targets, 'card_id');
  const by = (key: string, op: string, value?: unknown) => ({ attribute_filters: [{ key, op, value }] });
  expect(await ids(by('timeModel', 'eq', 'invest'))).toEqual([both]);
  expect(await ids(by('timeModel', 'is_empty'))).toEqual([one]);
  expect(await ids(by('numberOfUsers', 'lt', 5))).toEqual([one]);
  expect(await ids({ filter: 'attributes.numberOfUsers > 5' })).toEqual([both]);
  const server = await d.card({ type: 'ITComponent' });
  await admin.create('/api/v1/relations', { type: 'relAppToITC', source_id: one, target_id: server });
  expect(await ids({ related_ids: [server] })).toEqual([one]);
  // a role on the card is enough to be asked, and to answer; whoever has left is not asked
  await db('roles').insert({ key: 'nothing', label: 'Nothing', permissions: '{}' });
  await db('users').where({ id: bob.userId }).update({ role: 'nothing' });
  expect((await preview({})).total_users).toBe(2);
  await db('users').where({ id: bob.userId }).update({ is_active: false });
  expect((await preview({})).total_users).toBe(1);
  await db('users').where({ id: bob.userId }).update({ role: 'viewer', is_active: true });
});

describe('reminding', () => {
  it('tells those who have not answered, each once a day whatever the survey', async () => {
    const [cal, dot] = [await t.as('viewer', 'Cal'), await t.as('viewer', 'Dot')];
    const card = await d.card({}, cal, dot);
    const [id, other] = [await d.sent([card]), await d.sent([card])];
    const remind = (survey: string) => admin.post(`${url}/${survey}/remind`);
    await ok(d.answer(cal, id, card, {}));
    const since = await admin.position();
    expect(await ok(remind(id))).toEqual({ users_pending: 1, users_reminded: 1 });
    const [event] = await d.events(since, 'survey.reminded');
    expect(event.data).toMatchObject({ id, recipients: [dot.userId] });
    await tellAll(t.services);
    const told = async () =>
      (await toldTo(t.services, dot.userId)).filter(
        ({ title }) => title === 'A survey waits for your answer',
      );
    expect(await told()).toMatchObject([{ type: 'survey_request', link: '/surveys' }]);
    // the other survey reminds whoever was not reminded today
    expect(await ok(remind(other))).toEqual({ users_pending: 2, users_reminded: 1 });
    const both = await Promise.all([remind(id), remind(other)]);
    expect(both.map(({ body }) => body.users_reminded)).toEqual([0, 0]);
    await db('survey_reminders').update({ reminded_at: db.raw(`now() - interval '25 hours'`) });
    const twice = await Promise.all([remind(id), remind(other)]);
    expect(twice.map(({ body }) => body.users_reminded).reduce((sum, n) => sum + n)).toBe(2);
    await ok(admin.post(`${url}/${id}/close`));
    await expectProblem(remind(id), 409, 'wrong_state');
    await expectProblem(remind(randomUUID()), 404, 'not_found');
  });
});

describe('sending', () => {
  it('asks everybody once about each card, tells them, and ends with the close', async () => {
    const cards = [await d.card({ name: 'One' }, ann, bob), await d.card({ name: 'Two' }, bob)];
    const id = await d.draft(cards, { message: 'Please.' });
    const since = await admin.position();
    const sent = await admin.post(`${url}/${id}/send`);
    expect(sent.body).toMatchObject({ status: 'active', targets_created: 3, total_responses: 3 });
    const [told, ...more] = await d.events(since, 'survey.sent');
    expect(more).toEqual([]);
    expect([...told.data.recipients].sort()).toEqual([ann.userId, bob.userId].sort());
    expect(await d.events(since, 'survey_response.created')).toHaveLength(3);
    expect(await d.events(since, 'survey_response.created', bob)).toEqual([]);
    await tellAll(t.services);
    expect(await toldTo(t.services, bob.userId)).toContainEqual(
      expect.objectContaining({ type: 'survey_request', link: '/surveys' }),
    );

    const mine = await bob.get(`${url}/my`);
    expect(mine.body.items.find((entry: { survey_id: string }) => entry.survey_id === id)).toMatchObject({
      survey_name: 'Owners?',
      survey_message: 'Please.',
      survey_status: 'active',
      target_type_key: 'Application',
      pending_count: 2,
      items: [
        { card_id: cards[0], card_name: 'One' },
        { card_id: cards[1], card_name: 'Two' },
      ],
    });
    const badge = async () => (await bob.get('/api/v1/notifications/badge-counts')).body.pending_surveys;
    const waiting = await badge();
    expect((await d.answer(bob, id, cards[1]!, {})).body.status).toBe('completed');
    expect(await badge()).toBe(waiting - 1);
    expect(await d.responses(id)).toHaveLength(3);
    expect((await admin.get(`${url}/${id}/responses?status=completed`)).body.items).toMatchObject([
      { card_id: cards[1], card_name: 'Two', user_id: bob.userId, user_display_name: 'Bob', responses: {} },
    ]);

    for (const [act, body] of [
      [admin.patch, { name: 'X' }],
      [admin.delete, undefined],
    ] as const)
      await expectProblem(act(`${url}/${id}`, body), 409, 'wrong_state');
    await expectProblem(admin.post(`${url}/${id}/send`), 409, 'wrong_state');
    const closed = await admin.post(`${url}/${id}/close`);
    expect(closed.body).toMatchObject({ status: 'closed', completed_responses: 1 });
    expect(closed.body.closed_at).toMatch(/Z$/);
    await expectProblem(admin.post(`${url}/${id}/close`), 409, 'wrong_state');
    await expectProblem(d.answer(bob, id, cards[0]!, {}), 409, 'wrong_state');
    await expectProblem(bob.get(`${url}/${id}/respond/${cards[0]}`), 404, 'not_found');
    expect((await d.events(since, 'survey.closed')).length).toBe(1);
  });

  it('is refused for a draft that lacks something', async () => {
    const card = await d.card({}, ann);
    const missing = async (more: Record<string, unknown>) => {
      const { body } = await admin.post(`${url}/${await d.draft([card], more)}/send`);
      return [body.code, body.missing];
    };
    expect(await missing({ fields: [] })).toEqual(['survey_incomplete', 'fields']);
    expect(await missing({ target_roles: [] })).toEqual(['survey_incomplete', 'target_roles']);
    expect(await missing({ target_roles: ['observer'] })).toEqual(['survey_incomplete', 'targets']);
  });

  it('writes thousands of questions in sets, with an event for each', async () => {
    const name = `Many ${randomUUID()}`;
    await sql.run`
         with made as (insert into cards (type, name, description) select 'Provider', ${name} || n, ${name}
           from generate_series(1, 2500) n
         returning id)
       insert into stakeholders (card_id, user_id, role) select id, ${ann.userId}::uuid, 'responsible' from
           made`;
    const since = await admin.position();
    const id = await d.draft([], {
      target_type_key: 'Provider',
      target_filters: { filter: `name starts with "${name}"` },
      fields: [
        { key: (await admin.get('/api/v1/metamodel/types/Provider')).body.fields_schema[0].fields[0].key },
      ],
    });
    const sent = await admin.post(`${url}/${id}/send`);
    expect(sent.body.targets_created, sent.text).toBe(2500);
    expect(await d.events(since, 'survey_response.created&limit=10000')).toHaveLength(2500);
    const list = await ann.get(`${url}/my`);
    const item = list.body.items.find((entry: { survey_id: string }) => entry.survey_id === id);
    expect([item.pending_count, item.items.length]).toEqual([2500, 500]);
  });
});
