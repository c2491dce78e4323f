import { randomUUID } from 'node:crypto';
import { reportCatalogue } from '../../../reports/reports.catalogue.ts';
import { expectInvalid, expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);

const url = '/api/v1/saved-reports';
const given = (more: object = {}) => ({
  name: `Report ${randomUUID()}`,
  report_type: 'portfolio',
  config: { x_axis: 'functionalSuitability', nested: { list: [1, null, 'two'] } },
  ...more,
});
const made = (client: TestClient, more: object = {}) => client.create(url, given(more));
const ids = async (client: TestClient, query: string): Promise<string[]> =>
  pluck((await client.get(`${url}?page_size=200&${query}`)).body.items, 'id');
const told = async (client: TestClient, id: string) =>
  pluck(
    (await client.get('/api/v1/changes?limit=10000')).body.items.filter(
      (event: { data: { id: string } }) => event.data.id === id,
    ),
    'event_type',
  );

it('is created, read, changed and deleted, with events for its owner alone', async () => {
  const body = given({ thumbnail: 'data:image/png;base64,iVBORw0KGgo=', description: 'For the board' });
  const { status, body: report, headers } = await member.post(url, body);
  expect(status).toBe(201);
  expect(report).toMatchObject({
    ...body,
    owner_id: member.userId,
    is_owner: true,
    visibility: 'private',
    shared_with: [],
    shared_with_users: [],
  });
  const one = `${url}/${report.id}`;
  expect((await member.get(one)).body).toEqual(report);
  await ok(member.get(one, { 'if-none-match': headers.etag as string }), 304);
  const changed = await member.patch(one, { name: ' Mine ', thumbnail: null, config: { a: 1 } });
  expect(changed.body).toMatchObject({ name: 'Mine', thumbnail: null, config: { a: 1 } });
  for (const other of [viewer, admin]) {
    await expectProblem(other.get(one), 404);
    await expectProblem(other.patch(one, { name: 'x' }), 404);
    await expectProblem(other.delete(one), 404);
    expect(await ids(other, 'filter=all')).not.toContain(report.id);
  }
  await ok(member.delete(one), 204);
  await expectProblem(member.get(one), 404);
  await expectProblem(member.delete(one), 404);
  const events = ['saved_report.created', 'saved_report.updated', 'saved_report.deleted'];
  expect(await told(member, report.id)).toEqual(events);
  expect(await told(admin, report.id)).toEqual([]);
});

it('is shared with named people, or public', async () => {
  const shared_with = [viewer.userId, admin.userId];
  const shared = await made(member, { visibility: 'shared', shared_with });
  const open = await made(member, { visibility: 'public' });
  const kept = await made(member, { shared_with, report_type: 'eol' });
  expect(new Set(shared.shared_with)).toEqual(new Set(shared_with));
  const seen = (await viewer.get(`${url}/${shared.id}`)).body;
  expect(seen).toMatchObject({ is_owner: false, shared_with: [viewer.userId] });
  expect(seen.shared_with_users).toEqual([
    { id: viewer.userId, display_name: expect.any(String), can_edit: false },
  ]);
  expect(await ids(viewer, 'filter=shared')).toEqual([shared.id]);
  expect(await ids(viewer, 'filter=public')).toEqual([open.id]);
  expect(await ids(viewer, 'filter=my')).toEqual([]);
  expect(await ids(viewer, '')).toEqual(expect.arrayContaining([shared.id, open.id]));
  expect(await ids(viewer, '')).not.toContain(kept.id);
  expect(await ids(member, 'filter=my&report_type=eol')).toEqual([kept.id]);
  for (const id of [shared.id, open.id]) {
    await expectProblem(viewer.patch(`${url}/${id}`, { name: 'x' }), 403);
    await expectProblem(admin.delete(`${url}/${id}`), 403);
  }
  await member.patch(`${url}/${shared.id}`, { visibility: 'private' });
  await expectProblem(viewer.get(`${url}/${shared.id}`), 404);
});

it('is changed, but not shared or deleted, by people with whom it is shared for editing', async () => {
  const may = (user: TestClient, can_edit: boolean) => ({ user_id: user.userId, can_edit });
  const thumbnail = 'data:image/png;base64,iVBORw0KGgo=';
  const shared_with = [may(viewer, true), admin.userId];
  const { id, ...created } = await made(member, { visibility: 'shared', shared_with });
  const one = `${url}/${id}`;
  expect(created).toMatchObject({ is_owner: true, can_edit: true });
  expect(new Set(created.shared_with)).toEqual(new Set([viewer.userId, admin.userId]));
  const levels = created.shared_with_users.map((user: { id: string; can_edit: boolean }) => [
    user.id,
    user.can_edit,
  ]);
  expect(new Map(levels)).toEqual(
    new Map([
      [viewer.userId, true],
      [admin.userId, false],
    ]),
  );
  const { body: changed, headers } = await viewer.patch(one, { name: 'By the editor', config: { b: 2 } });
  expect(changed).toMatchObject({ name: 'By the editor', config: { b: 2 }, is_owner: false, can_edit: true });
  expect((await member.get(one)).body).toMatchObject({ name: 'By the editor', owner_id: member.userId });
  expect(headers.etag).toBeDefined();
  for (const owned of [{ visibility: 'public' }, { shared_with: [] }, { thumbnail }])
    await expectProblem(viewer.patch(one, owned), 403);
  await expectProblem(viewer.delete(one), 403);
  await expectProblem(admin.patch(one, { name: 'x' }), 403);
  expect((await admin.get(one)).body).toMatchObject({ can_edit: false });
  expect(await told(viewer, id)).toEqual([]);

  await ok(member.patch(one, { shared_with: [may(viewer, false)] }));
  await expectProblem(viewer.patch(one, { name: 'x' }), 403);
  await ok(member.patch(one, { shared_with: [may(viewer, true)], visibility: 'public' }));
  await ok(viewer.patch(one, { name: 'Public' }));
  await expectProblem(admin.patch(one, { name: 'x' }), 403);
  await ok(member.patch(one, { visibility: 'private' }));
  await expectProblem(viewer.patch(one, { name: 'x' }), 404);
  await expectInvalid(member.patch(one, { shared_with: [may(member, true)] }), 'shared_with.0.user_id');
});

it('can be of every report', async () => {
  for (const { name } of reportCatalogue)
    expect(await made(member, { report_type: name })).toMatchObject({ report_type: name });
});

it('shows its picture to others only if they see the costs that its owner saw', async () => {
  const thumbnail = 'data:image/png;base64,iVBORw0KGgo=';
  const reporter = await t.holding('inventory.view', 'saved_reports.create');
  const shown = async (client: TestClient, id: string) => {
    const listed = (await client.get(`${url}?page_size=200&fields=id,thumbnail`)).body.items;
    const one = (await client.get(`${url}/${id}`)).body.thumbnail;
    expect(listed.find((item: { id: string }) => item.id === id).thumbnail).toBe(one);
    return one;
  };
  const { id } = await made(member, { visibility: 'public', thumbnail });
  expect(await shown(member, id)).toBe(thumbnail);
  expect(await shown(admin, id)).toBe(thumbnail);
  expect(await shown(reporter, id)).toBeNull();

  const plain = await made(reporter, { visibility: 'public', thumbnail });
  expect(await shown(viewer, plain.id)).toBe(thumbnail);
  // from now on the owner sees the costs of one card
  const card = await admin.post('/api/v1/cards', { type: 'Application', name: `Card ${randomUUID()}` });
  const role = { card_id: card.body.id, user_id: reporter.userId, role: 'responsible' };
  await db('stakeholders').insert(role);
  await reporter.patch(`${url}/${plain.id}`, { name: 'Renamed' });
  expect(await shown(viewer, plain.id)).toBe(thumbnail);
  await reporter.patch(`${url}/${plain.id}`, { thumbnail: 'data:image/png;base64,AAAA' });
  expect(await shown(viewer, plain.id)).toBeNull();
  expect(await shown(reporter, plain.id)).toBe('data:image/png;base64,AAAA');
});

it('is refused where it is not what the description says', async () => {
  const refused = (body: object, field: string) => expectInvalid(member.post(url, body), field);
  await refused(given({ report_type: 'nothing' }), 'report_type');
  await refused(given({ name: ' ' }), 'name');
  await refused({ name: 'x', report_type: 'cost' }, 'config');
  await refused(given({ config: [] }), 'config');
  await refused(given({ config: { a: 'x'.repeat(100_000) } }), 'config');
  await refused(given({ thumbnail: 'data:image/svg+xml;base64,AAAA' }), 'thumbnail');
  await refused(given({ shared_with: [randomUUID()] }), 'shared_with.0');
  await refused(given({ shared_with: [member.userId] }), 'shared_with.0');
  const { id } = await made(member);
  await expectProblem(member.patch(`${url}/${id}`, { report_type: 'cost' }), 422);
  await expectProblem(viewer.post(url, given()), 403, 'saved_reports.create');
});

it('comes back when its batch is rolled back', async () => {
  const report = await made(member, { visibility: 'public', shared_with: [viewer.userId] });
  const { body: batch } = await member.post('/api/v1/mutation-batches', { tool_name: 'Saved reports' });
  const joined = { 'x-mutation-batch': batch.id };
  await ok(member.patch(`${url}/${report.id}`, { name: 'Other' }, joined));
  await ok(member.request({ method: 'DELETE', url: `${url}/${report.id}`, headers: joined }), 204);
  await member.post(`/api/v1/mutation-batches/${batch.id}/commit`, {});
  await admin.undo(batch.id);
  const { updated_at: _, ...before } = report;
  expect((await member.get(`${url}/${report.id}`)).body).toMatchObject(before);
});
