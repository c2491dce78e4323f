import { describe, expect, it } from 'vitest';
import { closeAfterAll, createTestApp, type TestClient } from '../../support/harness.ts';
import { appoint, card, eventsOf, make, NOBODY, withRole } from '../cards/write.fixture.ts';
import { ok, refusal } from './collaboration.fixture.ts';

const t = closeAfterAll(await createTestApp());
const [member, viewer] = await t.clients('member', 'viewer');
const app: { id: string; name: string } = await make(member);

const of = (id: string) => card(id, '/documents');
const one = (id: string) => `/api/v1/documents/${id}`;

describe('links', () => {
  it('are added, listed and removed, with one event each', async () => {
    const body = { name: ' Manual ', url: 'https://wiki.example.com/a?b=1#c', type: 'documentation' };
    const { answer, events } = await eventsOf(t, () => member.post(of(app.id), body));
    expect(answer.status).toBe(201);
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
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
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
    });
    const mail = await ok(member.post(of(app.id), { name: 'Desk', url: 'mailto:desk@example.com' }), 201);
    expect(mail.type).toBe('link');
    const plain = await ok(member.post(of(app.id), { name: 'On paper' }), 201);
    expect(plain.url).toBeNull();
    expect(await ok(viewer.get(of(app.id)))).toMatchObject({ items: [answer.body, mail, plain], total: 3 });
    expect((await ok(viewer.get(`${of(app.id)}?search=DESK&fields=name&cursor=`))).items).toEqual([
      { name: 'Desk' },
    ]);
    expect((await ok(viewer.get(`${of(app.id)}?sort_by=name&sort_dir=desc&page_size=1`))).items).toEqual([
      plain,
    ]);

    const gone = await eventsOf(t, () => member.delete(one(id)));
    expect([gone.answer.status, gone.events[0]!.event_type]).toEqual([204, 'document.removed']);
    expect(gone.events[0]!.data.changes.name).toEqual({ old: 'Manual', new: null });
    expect((await refusal(t, () => member.delete(one(id)))).status).toBe(404);
  });

  it.each([
    ['javascript:alert(1)'],
    ['JaVaScRiPt:alert(1)'],
    ['java\tscript:alert(1)'],
    [' https://example.com'],
    ['data:text/html,x'],
    ['file:///etc/passwd'],
    ['//example.com'],
    ['example.com'],
    ['https://'],
    ['ftp://example.com'],
    ['https://exa mple.com'],
  ])('lead nowhere but to http, https and mailto: %j', async (url) => {
    expect(await refusal(t, () => member.post(of(app.id), { name: 'x', url }))).toMatchObject({
      status: 422,
      fields: ['url'],
    });
  });

  it('have an enabled type', async () => {
    const post = (type: string) => member.post(of(app.id), { name: 'x', type });
    expect(await refusal(t, () => post('nope'))).toMatchObject({ status: 422, fields: ['type'] });
    // a category of files is no type of links
    expect((await refusal(t, () => post('meeting_notes'))).fields).toEqual(['type']);
    await t.services
      .db('resource_types')
      .where({ kind: 'link_type', key: 'support' })
      .update({ is_enabled: false });
    expect((await refusal(t, () => post('support'))).fields).toEqual(['type']);
    await ok(post('contract'), 201);
    expect((await refusal(t, () => member.post(of(app.id), { name: '  ' }))).fields).toEqual(['name']);
    expect((await refusal(t, () => member.post(of(app.id), { url: 'https://a.example' }))).fields).toEqual([
      'name',
    ]);
  });

  it('are for those who may see and manage them', async () => {
    const made = await ok(member.post(of(app.id), { name: 'Hush' }), 201);
    const body = { name: 'x' };
    expect(await refusal(t, () => viewer.post(of(app.id), body))).toMatchObject({
      permission: 'documents.manage',
    });
    expect(await refusal(t, () => viewer.delete(one(made.id)))).toMatchObject({
      permission: 'documents.manage',
    });
    const reader = await withRole(t, 'reader', ['inventory.view']);
    expect(await refusal(t, () => reader.get(of(app.id)))).toMatchObject({ permission: 'documents.view' });
    for (const act of [
      () => member.get(of(NOBODY)),
      () => member.post(of(NOBODY), body),
      () => member.delete(one(NOBODY)),
    ]) {
      expect((await refusal(t, act)).status).toBe(404);
    }
    const own = await make(member);
    await appoint(t, own.id, viewer, 'technical_application_owner');
    const added = await ok(viewer.post(of(own.id), body), 201);
    await ok(viewer.delete(one(added.id)), 204);
    const shown = async (client: TestClient) =>
      (await Promise.all([client.get('/api/v1/changes'), client.get(card(app.id, '/history'))])).map(
        ({ text }) => text.includes('Hush'),
      );
    expect(await shown(reader)).toEqual([false, false]);
    expect(await shown(viewer)).toEqual([true, true]);
  });
});
