import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { writesOf } from '../../support/writes.ts';
import { eventsBy, makeType, storedCard, types } from './metamodel.fixture.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);
const { appoint, expectRefused, idle, refused, expectInvalid } = writesOf(t);
const type = await makeType(admin);
const roles = `${types}/${type}/stakeholder-roles`;

it('are created behind the others, and count for the data quality', async () => {
  const card = await admin.card({ type, description: 'Said.' });
  expect((await storedCard(t, card.id)).data_quality).toBe(25);
  const body = {
    key: 'steward',
    label: ' Steward ',
    description: 'Minds the data.',
    color: '#112233',
    permissions: { 'card.edit': true },
    translations: { label: { de: 'Hüter' } },
  };
  const { answer, kinds, events } = await eventsBy(t, () => admin.post(roles, body));
  expect([answer.status, answer.headers.location]).toEqual([201, `${roles}/steward`]);
  expect(answer.body).toMatchObject({
    ...body,
    label: 'Steward',
    card_type_key: type,
    sort_order: 2,
    is_archived: false,
    archived_at: null,
    stakeholder_count: 0,
  });
  expect(kinds).toEqual({ 'card.updated': 1, 'stakeholder_role.created': 1 });
  const told = events.find(({ event_type }) => event_type === 'stakeholder_role.created')!;
  expect(told.data).toMatchObject({ id: answer.body.id, card_type_key: type, key: 'steward' });
  expect((await storedCard(t, card.id)).data_quality).toBe(20);
  const listed = await viewer.get(`${roles}?fields=key`);
  expect(pluck(listed.body.items, 'key')).toEqual(['responsible', 'observer', 'steward']);
});

it('give their rights at once to whoever holds them, and none while archived', async () => {
  const card = await admin.card({ type });
  await appoint(card.id, viewer, 'steward');
  const edit = () => viewer.patch(`/api/v1/cards/${card.id}`, { alias: String(Math.random()) });
  await ok(edit());
  await admin.patch(`${roles}/steward`, { permissions: { 'card.edit': false } });
  await expectProblem(edit(), 403);
  await admin.patch(`${roles}/steward`, { permissions: { 'card.edit': true } });
  await ok(edit());

  const { answer, kinds } = await eventsBy(t, () => admin.post(`${roles}/steward/archive`));
  expect(answer.body).toMatchObject({
    is_archived: true,
    archived_at: expect.any(String),
    archived_by: admin.userId,
    stakeholder_count: 1,
  });
  expect(kinds['stakeholder_role.updated']).toBe(1);
  await expectProblem(edit(), 403);
  expect((await viewer.get(`${roles}?fields=key`)).text).not.toContain('steward');
  expect((await viewer.get(`${roles}?include_archived=true&fields=key`)).text).toContain('steward');
  await expectRefused(() => admin.post(`${roles}/steward/archive`), 409, 'wrong_state');

  const restored = await admin.post(`${roles}/steward/restore`);
  expect(restored.body).toMatchObject({ is_archived: false, archived_at: null, archived_by: null });
  await ok(edit());
  expect(await refused(() => admin.post(`${roles}/steward/restore`))).toMatchObject({ code: 'wrong_state' });
});

it('change by what is sent, under the ETag that was read', async () => {
  const url = `${roles}/observer`;
  const seen = (await admin.get(url)).headers.etag!;
  const { answer, kinds } = await eventsBy(t, () =>
    admin.patch(url, { label: 'Watcher', sort_order: 7 }, { 'if-match': seen }),
  );
  expect(answer.body).toMatchObject({ key: 'observer', label: 'Watcher', sort_order: 7 });
  expect(kinds).toEqual({ 'stakeholder_role.updated': 1 });
  await idle(() => admin.patch(url, { label: 'Watcher' }));
  expect((await refused(() => admin.patch(url, { label: 'X' }, { 'if-match': seen }))).status).toBe(412);
});

it('refuse what is taken, unknown, faulty, or would leave none', async () => {
  const post = (body: unknown) => () => admin.post(roles, body);
  await expectRefused(post({ key: 'observer', label: 'X' }), 409, 'key_taken');
  await expectInvalid(post({ key: 'Xy', label: 'X' }), 'key');
  await expectInvalid(post({ key: 'xyz' }), 'label');
  const unknown = await refused(post({ key: 'xyz', label: 'X', permissions: { 'card.fly': true } }));
  expect(unknown).toMatchObject({ status: 422, fields: ['permissions.card.fly'] });
  await expectProblem(admin.post(`${types}/Nothing/stakeholder-roles`, { key: 'xyz', label: 'X' }), 404);

  const single = await makeType(admin, [], { stakeholder_roles: [{ key: 'only', label: 'Only' }] });
  await expectRefused(
    () => admin.post(`${types}/${single}/stakeholder-roles/only/archive`),
    409,
    'last_active_role',
  );
});
