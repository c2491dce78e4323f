import { randomUUID } from 'node:crypto';
import { eventKinds, expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';

const { t, admin } = await openApp(['admin']);

const made = async (url: string, body: unknown) => (await admin.create(url, body)).id as string;
const group = (more: object = {}) => made('/api/v1/tag-groups', { name: `Group ${randomUUID()}`, ...more });
const tag = (of: string, name: string = randomUUID()) => made(`/api/v1/tag-groups/${of}/tags`, { name });
const card = (more: object = {}) =>
  made('/api/v1/cards', { type: 'Application', name: randomUUID(), ...more });
const read = async (id: string) => (await admin.get(`/api/v1/cards/${id}`)).body;
const put = (id: string, ...tags: string[]) => admin.post(`/api/v1/cards/${id}/tags`, tags);
const events = async (since: string, ...types: string[]) =>
  (await admin.get(`/api/v1/changes?after=${since}&event_type=${types.join(',')}&limit=10000`)).body.items;

describe('the catalogue', () => {
  it('is made, listed, changed and deleted, and each step is told', async () => {
    const since = await admin.position();
    const id = await group({ name: 'Region', description: 'Where', restrict_to_types: ['Application'] });
    const first = await tag(id, 'Europe');
    expect((await admin.get('/api/v1/tag-groups?search=regi&type_key=Application')).body.items).toMatchObject(
      [{ id, mode: 'multi', mandatory: false, tags: [{ id: first, name: 'Europe' }] }],
    );
    expect((await admin.get('/api/v1/tag-groups?search=regi&type_key=Provider')).body.items).toEqual([]);
    const changed = await admin.patch(`/api/v1/tag-groups/${id}`, {
      name: 'Regions',
      restrict_to_types: null,
    });
    expect(changed.body).toMatchObject({ name: 'Regions', restrict_to_types: null });
    const renamed = await admin.patch(`/api/v1/tag-groups/${id}/tags/${first}`, {
      name: 'Asia',
      color: '#00ff00',
    });
    expect(renamed.body).toMatchObject({ name: 'Asia', color: '#00ff00' });
    await ok(admin.delete(`/api/v1/tag-groups/${id}/tags/${first}`), 204);
    await ok(admin.delete(`/api/v1/tag-groups/${id}`), 204);
    const told = await events(
      since,
      'tag_group.created',
      'tag_group.updated',
      'tag_group.deleted',
      'tag.created',
      'tag.updated',
      'tag.deleted',
    );
    expect(eventKinds(told, 'tag')).toBe(
      'tag_group.created created tag_group.updated updated deleted tag_group.deleted',
    );
    expect(told[2].data.changes).toEqual({
      name: { old: 'Region', new: 'Regions' },
      restrict_to_types: { old: ['Application'], new: null },
    });
  });

  it('refuses what does not fit', async () => {
    const id = await group({ name: 'Taken' });
    const first = await tag(id, 'One');
    const cases: [
      Promise<{ status: number; body: { code: string; errors?: { field: string }[] } }>,
      number,
      string,
    ][] = [
      [admin.post('/api/v1/tag-groups', { name: 'taken' }), 409, 'name_taken'],
      [admin.post(`/api/v1/tag-groups/${id}/tags`, { name: 'ONE' }), 409, 'name_taken'],
      [admin.post('/api/v1/tag-groups', { name: ' ' }), 422, 'validation_failed'],
      [admin.post('/api/v1/tag-groups', { name: 'X', mode: 'some' }), 422, 'validation_failed'],
      [
        admin.post('/api/v1/tag-groups', { name: 'X', restrict_to_types: ['NoSuch'] }),
        422,
        'validation_failed',
      ],
      [admin.post(`/api/v1/tag-groups/${id}/tags`, { name: 'X', color: 'red' }), 422, 'validation_failed'],
      [admin.post(`/api/v1/tag-groups/${randomUUID()}/tags`, { name: 'X' }), 404, 'not_found'],
      [admin.patch(`/api/v1/tag-groups/${randomUUID()}`, { name: 'X' }), 404, 'not_found'],
      [admin.patch(`/api/v1/tag-groups/${randomUUID()}/tags/${first}`, { name: 'X' }), 404, 'not_found'],
      [admin.delete(`/api/v1/tag-groups/${id}/tags/${randomUUID()}`), 404, 'not_found'],
      [
        admin.patch(`/api/v1/tag-groups/${id}`, { name: 'Y' }, { 'if-match': '"old"' }),
        412,
        'precondition_failed',
      ],
    ];
    for (const [asked, status, code] of cases) await expectProblem(asked, status, code);
  });

  it('keeps to what cards have already', async () => {
    const id = await group();
    const [one, two] = [await tag(id), await tag(id)];
    const tagged = await card();
    await put(tagged, one!, two!);
    const single = await admin.patch(`/api/v1/tag-groups/${id}`, { mode: 'single' });
    expect([single.status, single.body.code, single.body.card_count]).toEqual([409, 'tag_in_use', 1]);
    await expectProblem(
      admin.patch(`/api/v1/tag-groups/${id}`, { restrict_to_types: ['Provider'] }),
      409,
      'tag_in_use',
    );
    await admin.delete(`/api/v1/cards/${tagged}/tags/${two}`);
    await ok(admin.patch(`/api/v1/tag-groups/${id}`, { mode: 'single' }));
  });

  it('scores cards anew when a group becomes mandatory, and blocks their approval', async () => {
    const id = await group({ restrict_to_types: ['Platform'] });
    const one = await tag(id);
    const [with_, without] = [await card({ type: 'Platform' }), await card({ type: 'Platform' })];
    await put(with_!, one!);
    const before = await read(without!);
    await admin.patch(`/api/v1/tag-groups/${id}`, { mandatory: true });
    expect((await read(with_!)).data_quality).toBeGreaterThan((await read(without!)).data_quality);
    expect((await read(without!)).data_quality).toBeLessThanOrEqual(before.data_quality);
    const blocked = await admin.post(`/api/v1/cards/${without}/approval-status?action=approve`);
    expect([blocked.status, blocked.body.missing_tag_groups?.length]).toEqual([409, 1]);
    await put(without!, one!);
    expect((await read(without!)).data_quality).toBe((await read(with_!)).data_quality);
    const since = await admin.position();
    await ok(admin.delete(`/api/v1/tag-groups/${id}`), 204);
    expect((await read(with_!)).data_quality).toBe(before.data_quality);
    expect((await read(with_!)).tags).toEqual([]);
    expect(pluck(await events(since, 'tag.removed'), 'card_id').sort()).toEqual([with_, without].sort());
  });
});

describe('the tags of a card', () => {
  it('are put on and taken off, with the card as the answer and an event for each', async () => {
    const id = await group();
    const [one, two] = [await tag(id, 'A'), await tag(id, 'B')];
    const tagged = await card();
    const since = await admin.position();
    const answer = await put(tagged, one!, two!);
    expect([answer.status, pluck(answer.body.tags, 'name')]).toEqual([201, ['A', 'B']]);
    await ok(put(tagged, one!), 201);
    await ok(admin.delete(`/api/v1/cards/${tagged}/tags/${one}`), 204);
    await expectProblem(admin.delete(`/api/v1/cards/${tagged}/tags/${one}`), 404);
    const told = await events(since, 'tag.added', 'tag.removed');
    expect(
      told.map(({ event_type, data }: { event_type: string; data: { tag_name: string } }) => [
        event_type,
        data.tag_name,
      ]),
    ).toEqual([
      ['tag.added', 'A'],
      ['tag.added', 'B'],
      ['tag.removed', 'A'],
    ]);
  });

  it('keep to the modes and types of their groups', async () => {
    const single = await group({ mode: 'single' });
    const [one, two] = [await tag(single), await tag(single)];
    const other = await tag(await group({ restrict_to_types: ['Provider'] }));
    const tagged = await card();
    expect((await put(tagged, one!, two!)).body.code).toBe('single_tag');
    await ok(put(tagged, one!), 201);
    expect((await put(tagged, two!)).body.code).toBe('single_tag');
    await ok(put(tagged, one!), 201);
    const wrong = await put(tagged, other, randomUUID());
    expect([wrong.status, pluck(wrong.body.errors, 'code')]).toEqual([
      422,
      ['tag_not_allowed', 'unknown_tag'],
    ]);
    await expectProblem(put(randomUUID(), one!), 404);
    expect((await read(tagged)).tags).toHaveLength(1);
  });

  it('go with a deleted card, told one by one', async () => {
    const one = await tag(await group());
    const tagged = await card();
    await put(tagged, one);
    const since = await admin.position();
    await admin.delete(`/api/v1/cards/${tagged}`);
    const types = pluck(await events(since, 'tag.removed', 'card.deleted'), 'event_type');
    expect(types).toEqual(['tag.removed', 'card.deleted']);
  });
});

it('favorites are everybody’s own', async () => {
  const [mine, other] = [await t.as('viewer'), await t.as('member')];
  const [one, two] = [await card({ name: `Starred ${randomUUID()}` }), await card({ type: 'Provider' })];
  for (const id of [one, two, one]) await mine.create(`/api/v1/favorites/${id}`);
  expect(pluck((await mine.get('/api/v1/favorites')).body.items, 'card_id')).toEqual([two, one]);
  expect((await mine.get('/api/v1/favorites?type=Provider')).body.total).toBe(1);
  expect((await other.get('/api/v1/favorites')).body.total).toBe(0);
  await expectProblem(other.delete(`/api/v1/favorites/${one}`), 404);
  await ok(mine.delete(`/api/v1/favorites/${one}`), 204);
  const seen = (client: TestClient) =>
    client.get('/api/v1/changes?event_type=favorite.created,favorite.deleted');
  expect((await seen(mine)).body.items).toHaveLength(3);
  expect((await seen(other)).body.items).toEqual([]);
  await admin.delete(`/api/v1/cards/${two}`);
  expect((await mine.get('/api/v1/favorites')).body.total).toBe(0);
});
