import { postFile } from '../../support/forms.ts';
import { ok, openApp, pluck, type TestClient, type TestResponse } from '../../support/harness.ts';
import { card, writesOf } from '../../support/writes.ts';
import refusedAddresses from './documents.refused.json' with { type: 'json' };

const { t, db, member, viewer, admin } = await openApp(['member', 'viewer', 'admin']);
const { appoint, eventsOf, expectRefused, expectInvalid } = writesOf(t);
const app: { id: string; name: string } = await member.card();
const of = (id: string) => card(id, '/documents');
const one = (id: string) => `/api/v1/documents/${id}`;
it('are added, listed and removed, with one event each', async () => {
  const body = { name: ' Manual ', url: 'https://wiki.example.com/a?b=1#c', type: 'documentation' };
  const { answer, events } = await eventsOf(() => member.post(of(app.id), body), 201);
  const { id } = answer.body;
  expect(answer.body).toEqual({
    id,
    card_id: app.id,
    name: 'Manual',
    url: body.url,
    type: 'documentation',
    created_by: member.userId,
    created_at: expect.any(String),
  });
  expect(events).toMatchObject([
    {
      event_type: 'document.added',
      card_id: app.id,
      data: {
        id,
        document_id: id,
        name: 'Manual',
        url: body.url,
        type: 'documentation',
        summary: 'The link Manual was added',
        changes: { url: { old: null, new: body.url }, created_by: { old: null, new: member.userId } },
      },
    },
  ]);
  const mail = await member.create(of(app.id), { name: 'Desk', url: 'mailto:desk@example.com' });
  expect(mail.type).toBe('link');
  const plain = await member.create(of(app.id), { name: 'On paper' });
  expect(plain.url).toBeNull();
  expect(await ok(viewer.get(of(app.id)))).toMatchObject({ items: [answer.body, mail, plain], total: 3 });
  expect((await ok(viewer.get(`${of(app.id)}?search=DESK&fields=name&cursor=`))).items).toEqual([
    { name: 'Desk' },
  ]);
  expect((await ok(viewer.get(`${of(app.id)}?sort_by=name&sort_dir=desc&page_size=1`))).items).toEqual([
    plain,
  ]);

  const gone = await eventsOf(() => member.delete(one(id)));
  expect([gone.answer.status, gone.events[0]!.event_type]).toEqual([204, 'document.removed']);
  expect(gone.events[0]!.data.changes.name).toEqual({ old: 'Manual', new: null });
  await expectRefused(() => member.delete(one(id)), 404);
});

it('are changed, with an event of what differs, and changes are undone', async () => {
  const { id } = await member.create(of(app.id), { name: 'Old', url: 'https://a.example/' });
  const { answer, events } = await eventsOf(() =>
    member.patch(one(id), { name: ' New ', url: null, type: 'documentation' }),
  );
  expect(answer.body).toMatchObject({ id, name: 'New', url: null, type: 'documentation' });
  expect(events).toMatchObject([
    {
      event_type: 'document.updated',
      card_id: app.id,
      data: {
        summary: 'The link New was updated',
        changes: {
          name: { old: 'Old', new: 'New' },
          url: { old: 'https://a.example/', new: null },
          type: { old: 'link', new: 'documentation' },
        },
      },
    },
  ]);
  expect((await eventsOf(() => member.patch(one(id), { name: 'New' }))).events).toEqual([]);
  await expectInvalid(() => member.patch(one(id), { url: 'javascript:alert(1)' }), 'url');
  await expectInvalid(() => member.patch(one(id), { type: 'nothing' }), 'type');
  await expectRefused(() => viewer.patch(one(id), { name: 'x' }), 403);
  const stale = { 'if-match': '"other"' };
  await expectRefused(() => member.patch(one(id), { name: 'x' }, stale), 412);
  const batch = answer.headers['x-mutation-batch'];
  await ok(admin.post(`/api/v1/mutation-batches/${batch}/rollback`, { dry_run: false }));
  expect((await ok(member.get(`${of(app.id)}?search=old`))).items).toMatchObject([
    { id, url: 'https://a.example/', type: 'link' },
  ]);
});

it.each(refusedAddresses as [string][])('lead nowhere but to http, https and mailto: %j', async (url) => {
  await expectInvalid(() => member.post(of(app.id), { name: 'x', url }), 'url');
});

it('have an enabled type', async () => {
  const post = (type: string) => member.post(of(app.id), { name: 'x', type });
  await expectInvalid(() => post('nope'), 'type');
  // a category of files is no type of links
  await expectInvalid(() => post('meeting_notes'), 'type');
  await db('resource_types').where({ kind: 'link_type', key: 'support' }).update({ is_enabled: false });
  await expectInvalid(() => post('support'), 'type');
  await ok(post('contract'), 201);
  await expectInvalid(() => member.post(of(app.id), { name: '  ' }), 'name');
  await expectInvalid(() => member.post(of(app.id), { url: 'https://a.example' }), 'name');
});

it('are for those who may see and manage them', async () => {
  const made = await member.create(of(app.id), { name: 'Hush' });
  const body = { name: 'x' };
  await expectRefused(() => viewer.post(of(app.id), body), 403, 'documents.manage');
  await expectRefused(() => viewer.delete(one(made.id)), 403, 'documents.manage');
  const reader = await t.holding('inventory.view');
  await expectRefused(() => reader.get(of(app.id)), 403, 'documents.view');
  const own = await member.card();
  await appoint(own.id, viewer, 'technical_application_owner');
  await ok(viewer.delete(one((await viewer.create(of(own.id), body)).id)), 204);
  const shown = async (client: TestClient) =>
    (await Promise.all([client.get('/api/v1/changes'), client.get(card(app.id, '/history'))])).map(
      ({ text }) => text.includes('Hush'),
    );
  expect(await shown(reader)).toEqual([false, false]);
  expect(await shown(viewer)).toEqual([true, true]);
});

const users = await Promise.all(['a', 'b', 'c', 'd'].map((name) => t.as('member', name)));
const upload = (client: TestClient, id: string) =>
  postFile(client, card(id, '/file-attachments'), 'a.txt', 'text');

/** Everything that may be attached to a card, by everybody at once. */
const attach = (id: string): Promise<TestResponse>[] =>
  users.flatMap((client, n) => [
    client.post(card(id, '/stakeholders'), { user_id: client.userId, role: 'responsible' }),
    client.post(card(id, '/me/observe')),
    client.post(card(id, '/comments'), { content: `${n}` }),
    client.post(card(id, '/todos'), { description: `${n}` }),
    client.post(card(id, '/documents'), { name: `${n}` }),
    upload(client, id),
    client.patch(card(id), { description: `${n}` }),
  ]);

it('everybody attaches at once, and nothing is lost', async () => {
  const app = await admin.card();
  const answers = await Promise.all(attach(app.id));
  expect(pluck(answers, 'status').filter((status) => status !== 201 && status !== 200)).toEqual([]);
  for (const [what, n] of Object.entries({
    stakeholders: 8,
    comments: 4,
    todos: 4,
    documents: 4,
    'file-attachments': 4,
  }))
    expect((await admin.get(card(app.id, `/${what}`))).body.total, what).toBe(n);
});

it('what is attached while the card is deleted goes with it, or is refused', async () => {
  for (let round = 0; round < 4; round += 1) {
    const app = await admin.card();
    const [gone, ...answers] = await Promise.all([
      new Promise((resolve) => setImmediate(resolve)).then(() => admin.delete(card(app.id))),
      ...attach(app.id),
    ]);
    expect(gone!.status).toBe(200);
    for (const { status, text } of answers) expect([200, 201, 404], text).toContain(status);
    const events = await db('events').where({ card_id: app.id }).orderBy('position');
    const count = (types: string[]) => events.filter(({ event_type }) => types.includes(event_type)).length;
    const pairs = [
      ['stakeholder.added', 'stakeholder.removed'],
      ['comment.created', 'comment.deleted'],
      ['todo.created', 'todo.deleted'],
      ['document.added', 'document.removed'],
      ['file.uploaded', 'file.deleted'],
      ['card.created', 'card.deleted'],
    ] as const;
    for (const [made, ended] of pairs) expect(count([ended]), ended).toBe(count([made]));
    expect(events.at(-1)!.event_type).toBe('card.deleted');
    const left = await db('files')
      .whereNull('expires_at')
      .whereNotIn('id', db('file_attachments').select('file_id'));
    expect(left).toEqual([]);
  }
});
