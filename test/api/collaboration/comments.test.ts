import { ok, openApp, type TestClient } from '../../support/harness.ts';
import { card, NOBODY, writesOf } from '../../support/writes.ts';

const { t, db, sql, admin, member, viewer } = await openApp(['admin', 'member', 'viewer']);
const { appoint, eventsOf, expectRefused, refused, expectInvalid } = writesOf(t);
const reader = await t.holding('inventory.view');
const app: { id: string; name: string } = await admin.card();

const of = (id: string) => card(id, '/comments');
const one = (id: string) => `/api/v1/comments/${id}`;
const say = (content: string, parent_id?: string, client = member, on = app.id) =>
  client.create(of(on), { content, ...(parent_id ? { parent_id } : {}) });

it('are kept as they were typed, with those whom they name, and one event', async () => {
  const content = ` <b>@[View <er>](user:${viewer.userId.toUpperCase()})</b> & @[Nobody](user:${NOBODY})\n@[again](user:${viewer.userId}) `;
  const { answer, events } = await eventsOf(() => member.post(of(app.id), { content }), 201);
  const { id } = answer.body;
  expect(answer.body).toEqual({
    id,
    card_id: app.id,
    user_id: member.userId,
    user_display_name: 'member',
    content,
    mentions: [viewer.userId],
    parent_id: null,
    is_deleted: false,
    created_at: expect.any(String),
    updated_at: expect.any(String),
    replies: [],
  });
  expect(events).toMatchObject([
    {
      event_type: 'comment.created',
      card_id: app.id,
      data: {
        id,
        card_name: app.name,
        author_id: member.userId,
        content: content.slice(0, 100),
        mentions: [viewer.userId],
      },
    },
  ]);
  expect(Object.keys(events[0]!.data.changes).sort()).toEqual(
    ['card_id', 'content', 'created_at', 'depth', 'mentions', 'thread_id', 'user_id'].sort(),
  );
});

it('are listed by thread, each with all its replies', async () => {
  const own = await admin.card();
  const first = await say('first', undefined, member, own.id);
  const second = await say('second', undefined, member, own.id);
  const reply = await say('reply', first.id, admin, own.id);
  const deeper = await say('deeper', reply.id, member, own.id);
  const other = await say('other', first.id, member, own.id);
  expect(await ok(viewer.get(of(own.id)))).toEqual({
    items: [{ ...first, replies: [{ ...reply, replies: [deeper] }, other] }, second],
    total: 2,
    page: 1,
    page_size: 50,
  });
  const page = await ok(viewer.get(`${of(own.id)}?cursor=&page_size=1&sort_dir=desc`));
  expect(page.items).toEqual([second]);
  const next = await ok(viewer.get(`${of(own.id)}?cursor=${page.next_cursor}&page_size=1&sort_dir=desc`));
  expect(next.items[0].replies).toHaveLength(2);
  expect((await ok(viewer.get(`${of(own.id)}?search=SECOND&fields=content`))).items).toEqual([
    { content: 'second' },
  ]);
});

it('are changed by who wrote them, telling whom they name now', async () => {
  const made = await member.post(of(app.id), { content: `@[v](user:${viewer.userId})` });
  const content = `@[v](user:${viewer.userId}) @[a](user:${admin.userId})`;
  const { answer, events } = await eventsOf(() =>
    member.patch(one(made.body.id), { content }, { 'if-match': made.headers.etag! }),
  );
  expect(answer.body).toMatchObject({ content, mentions: [viewer.userId, admin.userId] });
  expect(
    answer.body.updated_at > made.body.updated_at || answer.body.updated_at === made.body.updated_at,
  ).toBe(true);
  expect(events[0]).toMatchObject({
    event_type: 'comment.updated',
    data: { mentions: [admin.userId], changes: { content: { old: made.body.content, new: content } } },
  });
  expect((await eventsOf(() => member.patch(one(made.body.id), { content }))).events).toEqual([]);
  expect((await eventsOf(() => member.patch(one(made.body.id), {}))).events).toEqual([]);
  const stale = { 'if-match': made.headers.etag! };
  await expectRefused(() => member.patch(one(made.body.id), { content: 'x' }, stale), 412);
  await expectRefused(() => member.delete(one(made.body.id), undefined, stale), 412);
});

it('that are answered stay, emptied, until the last answer goes', async () => {
  const own = await admin.card();
  const root = await say('root', undefined, member, own.id);
  const middle = await say('middle', root.id, member, own.id);
  const leaf = await say('leaf', middle.id, admin, own.id);
  for (const { id } of [root, middle]) {
    const { answer, events } = await eventsOf(() => member.delete(one(id)));
    expect(answer.status).toBe(204);
    expect(events).toMatchObject([
      {
        event_type: 'comment.updated',
        data: { changes: { content: { new: '' }, deleted_at: { old: null, new: expect.any(String) } } },
      },
    ]);
  }
  const [thread] = (await ok(viewer.get(of(own.id)))).items;
  expect(thread).toMatchObject({ id: root.id, content: '', is_deleted: true });
  expect(thread.replies[0]).toMatchObject({ id: middle.id, content: '', replies: [leaf] });
  await expectRefused(() => member.delete(one(root.id)), 404);
  await expectRefused(() => member.patch(one(root.id), { content: 'x' }), 404);
  await expectInvalid(() => member.post(of(own.id), { content: 'x', parent_id: root.id }), 'parent_id');

  const { events } = await eventsOf(() => admin.delete(one(leaf.id)));
  expect(events.map(({ event_type, data }) => [event_type, data.id])).toEqual([
    ['comment.deleted', leaf.id],
    ['comment.deleted', middle.id],
    ['comment.deleted', root.id],
  ]);
  expect((await ok(viewer.get(of(own.id)))).total).toBe(0);
});

it('cannot be answered without end', async () => {
  const own = await admin.card();
  let parent = (await say('0', undefined, member, own.id)).id;
  const root = parent;
  for (let depth = 1; depth <= 10; depth += 1) parent = (await say(`${depth}`, parent, member, own.id)).id;
  await expectInvalid(() => member.post(of(own.id), { content: 'x', parent_id: parent }), 'parent_id');
  await sql.run`insert into comments (card_id, user_id, parent_id, thread_id, depth, content)
       select ${own.id}, ${member.userId}, ${root}, ${root}, 1, 'more' from generate_series(1, 489)`;
  await expectRefused(() => member.post(of(own.id), { content: 'x', parent_id: root }), 409, 'thread_full');
});

it('answered while they are deleted never hang on nothing', async () => {
  for (let round = 0; round < 5; round += 1) {
    const root = await say('root');
    const [gone, reply] = await Promise.all([
      member.delete(one(root.id)),
      admin.post(of(app.id), { content: 'reply', parent_id: root.id }),
    ]);
    expect(gone.status).toBe(204);
    expect([201, 422]).toContain(reply.status);
    const left = await db('comments').where({ thread_id: root.id }).orderBy('depth').pluck('content');
    expect(left).toEqual(reply.status === 201 ? ['', 'reply'] : []);
  }
});

it('refuse what is no comment', async () => {
  const elsewhere = await say('elsewhere', undefined, member, (await admin.card()).id);
  const post = (body: unknown) => refused(() => member.post(of(app.id), body));
  expect(await post({ content: '' })).toMatchObject({ status: 422, fields: ['content'] });
  expect(await post({ content: ' \n ' })).toMatchObject({ status: 422, fields: ['content'] });
  expect(await post({ content: 'x'.repeat(10_001) })).toMatchObject({ status: 422, fields: ['content'] });
  expect(await post({ content: 'x', parent_id: 'x' })).toMatchObject({ status: 422 });
  expect(await post({ content: 'x', parent_id: NOBODY })).toMatchObject({ fields: ['parent_id'] });
  expect(await post({ content: 'x', parent_id: elsewhere.id })).toMatchObject({ fields: ['parent_id'] });
  expect(await post({ content: 'x', more: 1 })).toMatchObject({ status: 422 });
  const many = Array.from({ length: 51 }, (_, n) => `@[x](user:${NOBODY.slice(0, -2)}${10 + n})`).join(' ');
  expect(await post({ content: many })).toMatchObject({ fields: ['content'] });
});

it('are for those who may read, write or manage them', async () => {
  const made = await say('mine');
  const other = await t.as('member', 'other');
  await expectRefused(() => other.patch(one(made.id), { content: 'x' }), 403, 'comments.manage');
  await expectRefused(() => other.delete(one(made.id)), 403, 'comments.manage');
  await expectRefused(() => viewer.post(of(app.id), { content: 'x' }), 403, 'comments.create');
  await expectRefused(() => reader.get(of(app.id)), 403, 'comments.view');
  // roles on the card: an observer comments, who is responsible manages
  const own = await admin.card();
  await appoint(own.id, viewer, 'observer');
  const said = await say('as an observer', undefined, viewer, own.id);
  await appoint(own.id, reader, 'responsible');
  await ok(reader.patch(one(said.id), { content: 'corrected' }));
  await ok(reader.delete(one(said.id)), 204);
  await ok((await t.as('bpm_admin')).delete(one(made.id)), 204);
});

it('do not show in feed and history to those who may not read them', async () => {
  const after = (await ok(reader.get('/api/v1/changes?after=now'))).next;
  await say('a secret word');
  const shown = async (client: TestClient) =>
    (
      await Promise.all([client.get(`/api/v1/changes?after=${after}`), client.get(card(app.id, '/history'))])
    ).map(({ text }) => text.includes('a secret word'));
  expect(await shown(reader)).toEqual([false, false]);
  expect(await shown(viewer)).toEqual([true, true]);
});
