import { ok, openApp, pluck, type TestClient } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const { appoint, eventsOf, expectRefused, refused, expectInvalid } = writesOf(t);

const of = (id: string) => card(id, '/stakeholders');
const one = (id: string) => `/api/v1/stakeholders/${id}`;
const assign = (id: string, user: TestClient, role = 'responsible') =>
  member.create(of(id), { user_id: user.userId, role });
const scores = { __dataQuality: { stakeholders: 10 } };

describe('assignments', () => {
  it('are made, listed, changed and removed, each with one event that tells the whole row', async () => {
    const app = await admin.card();
    const made = await eventsOf(() =>
      member.post(of(app.id), { user_id: viewer.userId.toUpperCase(), role: 'responsible' }),
    );
    expect(made.answer.status).toBe(201);
    const { id } = made.answer.body;
    expect(made.answer.body).toEqual({
      id,
      card_id: app.id,
      user_id: viewer.userId,
      user_display_name: 'viewer',
      user_email: 'viewer@estate.example',
      role: 'responsible',
      role_label: 'Responsible',
      created_at: expect.any(String),
    });
    const [event] = made.events.filter(({ event_type }) => event_type === 'stakeholder.added');
    expect(event).toMatchObject({
      card_id: app.id,
      card_type: 'Application',
      data: {
        id,
        stakeholder_id: id,
        card_name: app.name,
        user_id: viewer.userId,
        user_display_name: 'viewer',
        role: 'responsible',
        role_label: 'Responsible',
        summary: 'viewer is Responsible',
        changes: {
          card_id: { old: null, new: app.id },
          user_id: { old: null, new: viewer.userId },
          role: { old: null, new: 'responsible' },
          created_at: { old: null, new: expect.any(String) },
        },
      },
    });

    const list = await ok(viewer.get(`${of(app.id)}?search=VIEW`));
    expect(list).toEqual({ items: [made.answer.body], total: 1, page: 1, page_size: 50 });
    expect((await ok(viewer.get(`${of(app.id)}?cursor=&fields=role`))).items).toEqual([
      { role: 'responsible' },
    ]);
    expect((await ok(viewer.get(`${of(app.id)}?search=nobody`))).total).toBe(0);

    const changed = await eventsOf(() =>
      member.patch(
        one(id),
        { role: 'observer', user_id: viewer.userId },
        { 'if-match': made.answer.headers.etag! },
      ),
    );
    expect(changed.answer.body).toEqual({ ...made.answer.body, role: 'observer', role_label: 'Observer' });
    expect(changed.events.map((row) => row.event_type)).toContain('stakeholder.role_changed');
    const { data } = changed.events[0]!;
    expect(data).toMatchObject({ id, changes: { role: { old: 'responsible', new: 'observer' } } });
    expect((await eventsOf(() => member.patch(one(id), { role: 'observer' }))).events).toEqual([]);

    const removed = await eventsOf(() => member.delete(one(id)));
    expect(removed.answer.status).toBe(204);
    expect(removed.events[0]).toMatchObject({
      event_type: 'stakeholder.removed',
      data: {
        id,
        changes: { role: { old: 'observer', new: null }, user_id: { old: viewer.userId, new: null } },
      },
    });
    expect((await ok(viewer.get(of(app.id)))).total).toBe(0);
  });

  it('count for the data quality of the card at once', async () => {
    await db('card_types').where({ key: 'Application' }).update('section_config', JSON.stringify(scores));
    await db.raw("select raise_topics(array['metamodel'])");
    const app = await admin.card();
    const before = (await ok(admin.get(card(app.id)))).data_quality;
    const { events } = await eventsOf(() =>
      member.post(of(app.id), { user_id: viewer.userId, role: 'responsible' }),
    );
    const after = (await ok(admin.get(card(app.id)))).data_quality;
    expect(after).toBeGreaterThan(before);
    expect(events.map((event) => event.event_type)).toEqual(['stakeholder.added', 'card.updated']);
    expect(events[1]!.data.changes).toEqual({ data_quality: { old: before, new: after } });
  });

  it('of the same user and role exist once, also when two ask at once', async () => {
    const app = await admin.card();
    const ask = () => member.post(of(app.id), { user_id: viewer.userId, role: 'observer' });
    const answers = await Promise.all([ask(), ask(), ask()]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409]);
    const other = await assign(app.id, viewer);
    await expectRefused(
      () => member.patch(one(other.id), { role: 'observer' }),
      409,
      'duplicate_stakeholder',
    );
  });

  it('need a user and a role that exist', async () => {
    const app = await admin.card();
    const made = await assign(app.id, viewer);
    const gone = await t.as('viewer', 'gone');
    await db('users').where({ id: gone.userId }).update({ is_active: false });
    const post = (body: unknown) => refused(() => member.post(of(app.id), body));
    expect(await post({ user_id: NOBODY, role: 'observer' })).toMatchObject({
      status: 422,
      fields: ['user_id'],
    });
    expect(await post({ user_id: gone.userId, role: 'observer' })).toMatchObject({ fields: ['user_id'] });
    expect(await post({ user_id: viewer.userId, role: 'nope' })).toMatchObject({
      status: 422,
      fields: ['role'],
    });
    expect(await post({ user_id: viewer.userId, role: 'observer', x: 1 })).toMatchObject({ status: 422 });
    expect(await post({ role: 'observer' })).toMatchObject({ fields: ['user_id'] });
    await expectInvalid(
      () => member.patch(one(made.id), { role: 'observer', user_id: member.userId }),
      'user_id',
    );
    const stale = { 'if-match': '"old"' };
    await expectRefused(() => member.patch(one(made.id), { role: 'observer' }, stale), 412);
    await expectRefused(() => member.delete(one(made.id), undefined, stale), 412);
  });

  it('are not found where there is none, and are kept from those without the right', async () => {
    const app = await admin.card();
    const made = await assign(app.id, member, 'observer');
    const body = { user_id: viewer.userId, role: 'observer' };
    for (const act of [
      () => viewer.post(of(app.id), body),
      () => viewer.patch(one(made.id), { role: 'responsible' }),
      () => viewer.delete(one(made.id)),
    ])
      await expectRefused(act, 403, 'stakeholders.manage');
    const lonely = await t.holding('inventory.view');
    await expectRefused(() => lonely.get(of(app.id)), 403, 'stakeholders.view');
    // a role on the card allows it there
    await appoint(app.id, lonely, 'responsible');
    await lonely.create(of(app.id), body);
  });

  it('do not show in feed and history to those who may not see them', async () => {
    const reader = await t.holding('inventory.view');
    const app = await admin.card();
    const after = (await ok(reader.get('/api/v1/changes?after=now'))).next;
    await assign(app.id, viewer);
    const shown = async (client: TestClient) =>
      (
        await Promise.all([
          client.get(`/api/v1/changes?after=${after}`),
          client.get(card(app.id, '/history')),
        ])
      ).map(({ text }) => text.includes('stakeholder.added'));
    expect(await shown(reader)).toEqual([false, false]);
    expect(await shown(viewer)).toEqual([true, true]);
  });
});

it('roles that show the costs of their card are given by those alone who see them', async () => {
  const app = await admin.card({ attributes: { costTotalAnnual: 4711 } });
  const keeper = await t.holding('inventory.view', 'stakeholders.manage');
  const self = (role: string) => keeper.post(of(app.id), { user_id: keeper.userId, role });
  await expectRefused(() => self('responsible'), 403, 'costs.view');
  const followed = await ok(self('observer'), 201);
  await expectRefused(() => keeper.patch(one(followed.id), { role: 'responsible' }), 403, 'costs.view');
  expect((await ok(keeper.get(card(app.id)))).attributes).toEqual({});
});

describe('observing', () => {
  const url = (id: string) => card(id, '/me/observe');

  it('makes the caller an observer, and ends that', async () => {
    const app = await admin.card();
    expect(await ok(viewer.get(url(app.id)))).toEqual({ is_observer: false, observer_role_available: true });
    const made = await viewer.create(url(app.id));
    expect(made).toMatchObject({ user_id: viewer.userId, role: 'observer', role_label: 'Observer' });
    expect((await ok(viewer.get(url(app.id)))).is_observer).toBe(true);
    await expectRefused(() => viewer.post(url(app.id)), 409, 'duplicate_stakeholder');
    const { events } = await eventsOf(() => viewer.delete(url(app.id)));
    expect(events[0]).toMatchObject({ event_type: 'stakeholder.removed', data: { id: made.id } });
    expect((await eventsOf(() => viewer.delete(url(app.id)))).events).toEqual([]);
  });

  it('does not show the costs of the card', async () => {
    const app = await admin.card({ attributes: { costTotalAnnual: 4711 } });
    await viewer.create(url(app.id));
    for (const path of [card(app.id), card(app.id, '/history'), `/api/v1/cards?ids=${app.id}`])
      expect((await viewer.get(path)).text).not.toContain('4711');
    expect((await ok(viewer.get(card(app.id, '/my-permissions')))).effective.can_view_costs).toBe(false);
  });

  it('needs a card that is seen, of a type with the role', async () => {
    const app = await admin.card();
    const nobody = await t.holding();
    await expectRefused(() => nobody.post(url(app.id)), 403, 'inventory.view');
    for (const act of [viewer.get, viewer.post, viewer.delete])
      await expectRefused(() => act(url(NOBODY)), 404);
    const component = await admin.card({ type: 'ITComponent' });
    await db('stakeholder_role_definitions')
      .where({ card_type_key: 'ITComponent', key: 'observer' })
      .update({ is_archived: true });
    await db.raw("select raise_topics(array['metamodel'])");
    expect((await ok(viewer.get(url(component.id)))).observer_role_available).toBe(false);
    await expectRefused(() => viewer.post(url(component.id)), 409, 'observer_role_unavailable');
  });
});

it('roles are listed once each, or those of a type', async () => {
  const all = await ok(viewer.get('/api/v1/stakeholder-roles?page_size=200'));
  const keys = pluck(all.items, 'key');
  expect(new Set(keys).size).toBe(keys.length);
  expect(keys).toContain('process_owner');
  expect(all.items[0]).toEqual({
    key: 'responsible',
    label: 'Responsible',
    translations: { label: { de: 'Verantwortlich' } },
  });
  const some = await ok(viewer.get('/api/v1/stakeholder-roles?type_key=Application&sort_by=key'));
  expect(pluck(some.items, 'key')).toEqual([...pluck(some.items, 'key')].sort());
  expect(pluck(some.items, 'key')).not.toContain('process_owner');
  await expectInvalid(() => viewer.get('/api/v1/stakeholder-roles?type_key=Nope'), 'type_key');
  expect(Object.keys(await ok(viewer.get('/api/v1/stakeholder-roles/permissions-schema')))).toHaveLength(15);
});
