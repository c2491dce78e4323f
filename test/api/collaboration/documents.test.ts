import { describe, expect, it } from 'vitest';
import { ok, openApp, type TestClient } from '../../support/harness.ts';
import { appoint, card, eventsOf, expectRefused, make, NOBODY } from '../cards/write.fixture.ts';
import refusedAddresses from './documents.refused.json' with { type: 'json' };

const { t, db, member, viewer } = await openApp(['member', 'viewer']);
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

    const gone = await eventsOf(t, () => member.delete(one(id)));
    expect([gone.answer.status, gone.events[0]!.event_type]).toEqual([204, 'document.removed']);
    expect(gone.events[0]!.data.changes.name).toEqual({ old: 'Manual', new: null });
    await expectRefused(t, () => member.delete(one(id)), 404);
  });

  it.each(refusedAddresses as [string][])('lead nowhere but to http, https and mailto: %j', async (url) => {
    await expectRefused(
      t,
      () => member.post(of(app.id), { name: 'x', url }),
      422,
      'validation_failed',
      'url',
    );
  });

  it('have an enabled type', async () => {
    const post = (type: string) => member.post(of(app.id), { name: 'x', type });
    await expectRefused(t, () => post('nope'), 422, 'validation_failed', 'type');
    // a category of files is no type of links
    await expectRefused(t, () => post('meeting_notes'), 422, 'validation_failed', 'type');
    await db('resource_types').where({ kind: 'link_type', key: 'support' }).update({ is_enabled: false });
    await expectRefused(t, () => post('support'), 422, 'validation_failed', 'type');
    await ok(post('contract'), 201);
    await expectRefused(t, () => member.post(of(app.id), { name: '  ' }), 422, 'validation_failed', 'name');
    await expectRefused(
      t,
      () => member.post(of(app.id), { url: 'https://a.example' }),
      422,
      'validation_failed',
      'name',
    );
  });

  it('are for those who may see and manage them', async () => {
    const made = await member.create(of(app.id), { name: 'Hush' });
    const body = { name: 'x' };
    await expectRefused(t, () => viewer.post(of(app.id), body), 403, 'documents.manage');
    await expectRefused(t, () => viewer.delete(one(made.id)), 403, 'documents.manage');
    const reader = await t.holding('inventory.view');
    await expectRefused(t, () => reader.get(of(app.id)), 403, 'documents.view');
    for (const act of [
      () => member.get(of(NOBODY)),
      () => member.post(of(NOBODY), body),
      () => member.delete(one(NOBODY)),
    ]) {
      await expectRefused(t, act, 404);
    }
    const own = await make(member);
    await appoint(t, own.id, viewer, 'technical_application_owner');
    const added = await viewer.create(of(own.id), body);
    await ok(viewer.delete(one(added.id)), 204);
    const shown = async (client: TestClient) =>
      (await Promise.all([client.get('/api/v1/changes'), client.get(card(app.id, '/history'))])).map(
        ({ text }) => text.includes('Hush'),
      );
    expect(await shown(reader)).toEqual([false, false]);
    expect(await shown(viewer)).toEqual([true, true]);
  });
});
