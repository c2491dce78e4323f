import { randomUUID } from 'node:crypto';
import type { TestClient, TestResponse } from '../../support/harness.ts';
import { expectInvalid, expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { diagramWorld, kinds, url } from './diagrams.fixture.ts';

const { t, db, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const d = diagramWorld(admin);

it('a diagram that is private is there for its maker alone, in lists, counts and events', async () => {
  const since = await admin.position();
  const a = await d.card();
  const mine = await d.diagram({ visibility: 'private', card_ids: [a] }, member);
  const group = await admin.create('/api/v1/diagram-groups', { name: randomUUID() });
  await member.put(`${url}/${mine.id}/groups`, { group_ids: [group.id] });
  expect(mine.visibility).toBe('private');
  const count = async (client: TestClient) =>
    (await client.get(`/api/v1/diagram-groups?search=${group.name}`)).body.items[0].diagram_count;
  expect([await count(member), await count(admin)]).toEqual([1, 0]);
  const found = async (client: TestClient) => (await client.get(`${url}?card_id=${a}`)).body.total;
  expect([await found(member), await found(admin)]).toEqual([1, 0]);
  for (const act of [
    admin.get(`${url}/${mine.id}`),
    admin.patch(`${url}/${mine.id}`, { name: 'Mine' }),
    admin.delete(`${url}/${mine.id}`),
    admin.post(`${url}/${mine.id}/favorite`),
    admin.post(`${url}/${mine.id}/cards`, { card_id: a }),
  ])
    await expectProblem(act, 404, 'not_found');
  expect(kinds(await admin.changes(since, 'diagram'))).toEqual(['diagram_group.created']);
  expect(kinds(await member.changes(since, 'diagram'))).toContain('diagram.created');
  expect(kinds((await admin.get(`/api/v1/cards/${a}/history`)).body.items)).toEqual(['card.created']);
  expect((await member.patch(`${url}/${mine.id}`, { visibility: 'public' })).body.visibility).toBe('public');
  await expectProblem(admin.patch(`${url}/${mine.id}`, { visibility: 'private' }), 403, 'forbidden');
  expect((await admin.get(`${url}?mine=true&fields=id`)).body.items).not.toContainEqual({ id: mine.id });
});

it('a diagram that is shared is there for those whom its maker names, to look at or to change', async () => {
  const since = await admin.position();
  const [reader, stranger] = [await t.as('member', 'reader'), await t.as('member', 'stranger')];
  const a = await d.card();
  const shared_with = [{ user_id: reader.userId.toUpperCase() }, { user_id: viewer.userId, can_edit: true }];
  const ours = await d.diagram({ visibility: 'shared', shared_with, card_ids: [a] }, member);
  const { id } = ours;
  const at = `${url}/${id}`;
  expect(ours).toMatchObject({ visibility: 'shared', can_edit: true });
  expect(pluck(ours.shared_with, 'user_id', 'can_edit')).toEqual([
    [reader.userId, false],
    [viewer.userId, true],
  ]);
  const seen = (await reader.get(at)).body;
  expect(seen).toMatchObject({ visibility: 'shared', can_edit: false });
  expect(seen.shared_with).toMatchObject([{ user_id: reader.userId, display_name: 'reader' }]);
  expect((await reader.get(`${url}?visibility=shared&fields=id,shared_with`)).body.items).toMatchObject([
    { id, shared_with: [{ user_id: reader.userId }] },
  ]);
  expect((await stranger.get(`${url}?card_id=${a}`)).body.total).toBe(0);
  await expectProblem(stranger.get(at), 404, 'not_found');
  await expectProblem(stranger.patch(at, { name: 'Theirs' }), 404, 'not_found');
  for (const act of [
    reader.patch(at, { name: 'Theirs' }),
    reader.delete(at),
    reader.post(`${at}/cards`, { card_id: a }),
    reader.put(`${at}/groups`, { group_ids: [] }),
    // to be shared with gives nobody a permission
    viewer.patch(at, { name: 'Theirs' }),
  ]) {
    await expectProblem(act, 403, 'forbidden');
  }
  expect((await viewer.get(at)).body.can_edit).toBe(false);
  await reader.create(`${at}/favorite`);
  await ok(member.patch(at, { shared_with: [{ user_id: reader.userId, can_edit: true }] }));
  expect((await reader.patch(at, { name: 'Theirs', visibility: 'shared' })).body).toMatchObject({
    name: 'Theirs',
    can_edit: true,
  });
  for (const act of [
    reader.patch(at, { visibility: 'public' }),
    reader.patch(at, { shared_with: [] }),
    reader.delete(at),
  ])
    await expectProblem(act, 403, 'forbidden');
  await expectProblem(viewer.get(at), 404, 'not_found');
  // others hear nothing of it
  expect(await stranger.changes(since, 'diagram')).toEqual([]);
  expect(kinds(await member.changes(since, 'diagram'))).toContain('diagram.updated');
  expect((await member.patch(at, { shared_with: [] })).body).toMatchObject({
    visibility: 'private',
    shared_with: [],
  });
  await admin.undo();
  await ok(reader.get(at));
  expect((await member.patch(at, { visibility: 'public' })).body.shared_with).toEqual([]);
  // what a rollback takes back that others have built on is taken back as far as it goes
  await ok(member.patch(at, { visibility: 'shared', shared_with }));
  const { batch_id } = await db('events').orderBy('position', 'desc').first('batch_id');
  const fewer = await member.patch(at, { shared_with: [{ user_id: reader.userId }] });
  expect(fewer.body.shared_with).toHaveLength(1);
  await ok(admin.post(`/api/v1/mutation-batches/${batch_id}/rollback`, { dry_run: false, force: true }));
  expect((await stranger.get(at)).body).toMatchObject({ visibility: 'public', shared_with: [] });
  expect((await reader.get(at)).body.visibility).toBe('public');
  expect((await member.patch(at, { visibility: 'public' })).body.shared_with).toEqual([]);
  for (const [body, field] of [
    [{ shared_with: [{ user_id: reader.userId }] }, 'shared_with'],
    [{ visibility: 'shared' }, 'shared_with'],
    [{ visibility: 'private', shared_with: [{ user_id: reader.userId }] }, 'shared_with'],
    [{ visibility: 'shared', shared_with: [{ user_id: member.userId }] }, 'shared_with.0.user_id'],
    [{ visibility: 'shared', shared_with: [{ user_id: randomUUID() }] }, 'shared_with.0.user_id'],
    [
      { visibility: 'shared', shared_with: [{ user_id: reader.userId }, { user_id: reader.userId }] },
      'shared_with.1.user_id',
    ],
  ] as const)
    await expectInvalid(member.patch(at, body), field);
});

const callers = ['admin', 'author', 'asked', 'viewer'] as const;
type Who = (typeof callers)[number];

const client: Record<Who, TestClient> = {
  admin,
  author: await t.as('member', 'author'),
  asked: await t.as('member', 'asked'),
  viewer,
};

/** An answer's status, with the code of a refusal where it tells more. */
const outcome = ({ status, body }: TestResponse): string | number =>
  status >= 400 && body.code !== 'forbidden' ? `${status} ${body.code}` : status;

const actions: Record<string, (who: TestClient, at: string) => Promise<TestResponse>> = {
  read: (who, at) => who.get(at),
  star: (who, at) => who.post(`${at}/favorite`),
  edit: (who, at) => who.patch(at, { description: 'X' }),
  hide: (who, at) => who.patch(at, { visibility: 'private' }),
  share: (who, at) => who.patch(at, { visibility: 'public' }),
  delete: (who, at) => who.delete(at),
};
const done: Record<string, number> = { star: 201, delete: 204 };

it.each(['public', 'private', 'shared'])(
  'a diagram that is %s is read and written by those who may',
  async (visibility) => {
    const shared_with = visibility === 'shared' ? [{ user_id: client.asked.userId, can_edit: true }] : [];
    const found: Record<string, unknown> = {};
    const wanted: Record<string, unknown> = {};
    for (const [action, act] of Object.entries(actions)) {
      for (const who of callers) {
        const made = await client.author.create(url, { name: 'D', visibility, shared_with });
        const answer = await act(client[who], `${url}/${made.id}`);
        const name = `${action} by ${who}`;
        found[name] = outcome(answer);
        const writes = !['read', 'star'].includes(action);
        const changes =
          (action === 'hide' && visibility !== 'private') || (action === 'share' && visibility !== 'public');
        const sees =
          visibility === 'public' || who === 'author' || (visibility === 'shared' && who === 'asked');
        // what is shared is not given away, and deleted by its maker alone
        const makers = changes || (action === 'delete' && visibility === 'shared');
        if (writes && who === 'viewer') wanted[name] = 403;
        else if (!sees) wanted[name] = '404 not_found';
        else wanted[name] = makers && who !== 'author' ? 403 : (done[action] ?? 200);
        if (changes && answer.status === 200)
          expect(answer.body.visibility).toBe(action === 'hide' ? 'private' : 'public');
      }
    }
    expect(found).toEqual(wanted);
  },
);
