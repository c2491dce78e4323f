import { randomUUID } from 'node:crypto';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';

const { t, admin, viewer } = await openApp(['admin', 'viewer']);

const create = async (type = 'Application') =>
  (await admin.create('/api/v1/cards', { type, name: randomUUID() })).id as string;
const events = async (id: string) =>
  pluck((await ok(admin.get(`/api/v1/cards/${id}/history`))).items, 'event_type');
const read = (id: string) => ok(admin.get(`/api/v1/cards/${id}`));

describe('the approval of many cards', () => {
  const url = '/api/v1/cards/bulk-approval';

  it('is set where nothing is missing, and names what is missing elsewhere', async () => {
    const group = await admin.create('/api/v1/tag-groups', {
      name: 'Required',
      mandatory: true,
      restrict_to_types: ['ITComponent'],
    });
    await admin.create(`/api/v1/tag-groups/${group.id}/tags`, { name: 'Any' });
    const [good, blocked, archived, unknown] = [
      await create(),
      await create('ITComponent'),
      await create(),
      randomUUID(),
    ];
    await ok(admin.post(`/api/v1/cards/${archived}/archive`, {}));
    const request = { card_ids: [good, blocked, archived, unknown], action: 'approve' };
    const tried = await ok(admin.post(url, { ...request, dry_run: true }));
    expect((await read(good)).approval_status).toBe('DRAFT');
    const done = await ok(admin.post(url, request));
    expect(done).toEqual({ ...tried, dry_run: false });
    expect(pluck(done.results, 'status')).toEqual(['updated', 'refused', 'refused', 'not_found']);
    expect(done.updated).toBe(1);
    expect(done.results[1]).toMatchObject({
      code: 'approval_blocked_mandatory_missing',
      missing_tag_groups: [{ id: group.id, name: 'Required' }],
    });
    expect(done.results[2].code).toBe('wrong_state');
    expect((await read(good)).approval_status).toBe('APPROVED');
    expect((await events(good))[0]).toBe('card.approval_status.approve');
    expect((await ok(admin.post(url, request))).results[0].status).toBe('unchanged');
  });

  it('needs the right on each card', async () => {
    const body = { card_ids: [await create()], action: 'reject' };
    await expectProblem(viewer.post(url, body), 403, 'inventory.approval_status');
    await expectProblem(admin.post(url, { ...body, action: 'nothing' }), 422);
  });
});

describe('the tags of many cards', () => {
  const url = '/api/v1/cards/bulk-tags';
  const tagsOf = async (id: string) => pluck((await read(id)).tags, 'name').sort();

  it('are removed and added, with an event each, where they are allowed', async () => {
    const group = await admin.create('/api/v1/tag-groups', {
      name: 'Single',
      mode: 'single',
      restrict_to_types: ['Application'],
    });
    const make = async (name: string) =>
      (await admin.create(`/api/v1/tag-groups/${group.id}/tags`, { name })).id as string;
    const [red, blue] = [await make('Red'), await make('Blue')];
    const [first, second, other] = [await create(), await create(), await create('ITComponent')];
    await admin.create(`/api/v1/cards/${second}/tags`, [red]);
    const request = { card_ids: [first, second, other, randomUUID()], add: [blue] };
    const tried = await ok(admin.post(url, { ...request, dry_run: true }));
    expect(await tagsOf(first)).toEqual([]);
    const done = await ok(admin.post(url, request));
    expect(done).toEqual({ ...tried, dry_run: false });
    expect(done.results).toMatchObject([
      { status: 'updated', added: [blue], removed: [] },
      { status: 'refused', code: 'single_tag', added: [] },
      { status: 'refused', code: 'tag_not_allowed', added: [] },
      { status: 'not_found' },
    ]);
    expect(await tagsOf(first)).toEqual(['Blue']);
    const replaced = await ok(
      admin.post(url, { card_ids: [first, second], add: [blue], remove: [red, blue] }),
    );
    expect(pluck(replaced.results, 'status')).toEqual(['unchanged', 'updated']);
    expect(await tagsOf(second)).toEqual(['Blue']);
    expect((await events(second)).slice(0, 2).sort()).toEqual(['tag.added', 'tag.removed']);
  });

  it('need the rights, and known tags', async () => {
    const card_ids = [await create()];
    await expectProblem(viewer.post(url, { card_ids }), 403, 'inventory.bulk_edit');
    await expectProblem(
      (await t.holding('inventory.view', 'inventory.bulk_edit')).post(url, { card_ids }),
      403,
      'inventory.edit',
    );
    await expectProblem(admin.post(url, { card_ids, add: [randomUUID()] }), 422);
  });
});

it('a bulk change is refused for cards that have changed since they were read', async () => {
  const [same, changed] = [await create(), await create()];
  const etags: Record<string, string> = {};
  for (const id of [same, changed])
    etags[id] = (await admin.get(`/api/v1/cards/${id}`)).headers.etag as string;
  await ok(admin.patch(`/api/v1/cards/${changed}`, { alias: 'Meanwhile' }));
  const request = { ids: [same, changed], updates: { description: 'New' }, if_match: etags };
  const refused = await admin.patch('/api/v1/cards/bulk', request);
  expect([refused.status, refused.body.code, refused.body.card_ids]).toEqual([
    412,
    'precondition_failed',
    [changed],
  ]);
  expect((await read(same)).description).toBeNull();
  etags[changed] = (await admin.get(`/api/v1/cards/${changed}`)).headers.etag as string;
  expect((await ok(admin.patch('/api/v1/cards/bulk', request))).updated).toBe(2);
});
