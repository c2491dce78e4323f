import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { roleWith } from '../../support/accounts.ts';
import { expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';
import { tellAll } from '../../support/notifications.ts';
import { startSmtp } from '../../support/smtp.ts';

const { t, db } = await openApp([], { OUTBOUND_ALLOW: '127.0.0.1:*' });
await t.app.listen({ port: 0, host: '127.0.0.1' });
const port = (t.app.server.address() as AddressInfo).port;
const admin = await t.as('admin', 'Ann');
const bob = await t.as('viewer', 'bob');
const eve = await t.as('viewer', 'eve');

const list = '/api/v1/notifications';

/** A card that bob follows, changed by the administrator. @returns its id. */
async function changed(name: string): Promise<string> {
  const { body } = await admin.post('/api/v1/cards', { type: 'Application', name });
  await db('stakeholders').insert({ card_id: body.id, user_id: bob.userId, role: 'observer' });
  await ok(admin.patch(`/api/v1/cards/${body.id}`, { alias: 'X' }));
  await tellAll(t.services);
  return body.id;
}

describe('the list', () => {
  it('leaves out what was told by a permission that was lost since', async () => {
    const role = await roleWith(t, 'inventory.view', 'notifications.manage', 'risks.view');
    const rita = await t.as(role);
    await admin.post('/api/v1/risks', { title: 'Outage', owner_id: rita.userId });
    await tellAll(t.services);
    expect(pluck((await rita.get(list)).body.items, 'type')).toEqual(['risk_assigned']);
    const permissions = { 'inventory.view': true, 'notifications.manage': true };
    await ok(admin.patch(`/api/v1/roles/${role}`, { permissions }));
    expect((await rita.get(list)).body.items).toEqual([]);
  });

  it('shows own notifications newest first, to be counted and read one by one or all at once', async () => {
    const first = await changed('First');
    await changed('Second');
    const all = await bob.get(list);
    expect(pluck(all.body.items, 'title')).toEqual(['Second was changed', 'First was changed']);
    const [, item] = all.body.items;
    expect(item).toMatchObject({
      user_id: bob.userId,
      type: 'card_updated',
      message: 'Ann has changed alias.',
      link: `/cards/${first}`,
      is_read: false,
      data: { count: 1 },
      card_id: first,
      actor_id: admin.userId,
      actor_name: 'Ann',
    });
    expect((await eve.get(list)).body.items).toEqual([]);
    const count = async () => (await bob.get(`${list}/unread-count`)).body.count;
    expect(await count()).toBe(2);

    const read = await bob.patch(`${list}/${item.id}/read`);
    expect([read.status, read.body]).toEqual([200, { ...item, is_read: true }]);
    const [event] = await db('events').orderBy('position', 'desc').limit(1);
    expect(event).toMatchObject({
      event_type: 'notification.read',
      scope: 'user',
      recipient_id: bob.userId,
      data: { id: item.id, changes: { is_read: { old: false, new: true } } },
    });
    expect(event.batch_id).not.toBeNull();
    // once more: nothing is written
    expect((await bob.patch(`${list}/${item.id}/read`)).body.is_read).toBe(true);
    const [last] = await db('events').orderBy('position', 'desc').limit(1);
    expect(last.position).toBe(event.position);

    expect(await count()).toBe(1);
    expect((await bob.get(`${list}?is_read=true`)).body.items).toMatchObject([{ id: item.id }]);
    expect((await bob.post(`${list}/mark-all-read`)).body).toEqual({ ok: true, updated: 1 });
    expect((await bob.post(`${list}/mark-all-read`)).body).toEqual({ ok: true, updated: 0 });
    expect(await count()).toBe(0);
    expect((await bob.get(`${list}?type=mentioned,survey_request`)).body.total).toBe(0);
    expect((await bob.get(`${list}?cursor=&page_size=1&search=first&fields=id,title`)).body.items).toEqual([
      { id: item.id, title: 'First was changed' },
    ]);
  });

  it('answers 404 for what belongs to others', async () => {
    const [{ id }] = (await bob.get(list)).body.items;
    await expectProblem(eve.patch(`${list}/${id}/read`), 404);
    await expectProblem(bob.patch(`${list}/nonsense/read`), 422);
    await expectProblem(bob.get(`${list}?unread=true`), 422);
    await expectProblem((await t.holding()).get(list), 403, 'notifications.manage');
  });

  it('leaves out cards that its user no longer sees, and keeps those that are gone', async () => {
    const hidden = await changed('Soon hidden');
    const titles = async () => (await bob.get(`${list}?search=soon`)).body.items.length;
    expect(await titles()).toBe(1);
    const setHidden = async (is_hidden: boolean) => {
      await db('card_types').where({ key: 'Application' }).update({ is_hidden });
      await db.raw(`select record_events('[]'::jsonb, '{metamodel}'::text[])`);
    };
    await setHidden(true);
    expect([await titles(), (await bob.get(`${list}/unread-count`)).body.count]).toEqual([0, 0]);
    await setHidden(false);
    await ok(admin.delete(`/api/v1/cards/${hidden}`));
    expect(await titles()).toBe(1);
  });
});

describe('the switches', () => {
  const url = '/api/v1/users/me/notification-preferences';

  it('are all there, change one by one, and go back', async () => {
    const fresh = await eve.get(url);
    expect(fresh.body.in_app.card_updated).toBe(true);
    expect(fresh.body.email).toMatchObject({
      soaw_signed: true,
      soaw_sign_requested: true,
      survey_request: true,
      task_assigned: true,
      todo_assigned: true,
      card_updated: false,
      comment_added: false,
      approval_status_changed: false,
    });
    const after = await eve.patch(url, { in_app: { card_updated: false }, email: { card_updated: true } });
    expect(after.body).toEqual({
      in_app: { ...fresh.body.in_app, card_updated: false },
      email: { ...fresh.body.email, card_updated: true },
      // unless set, as by mail
      chat: { ...fresh.body.chat, card_updated: true },
    });
    const [event] = await db('events').orderBy('position', 'desc').limit(1);
    expect(event).toMatchObject({
      event_type: 'user.updated',
      data: {
        changes: {
          notification_preferences: {
            old: {},
            new: { in_app: { card_updated: false }, email: { card_updated: true } },
          },
        },
      },
    });
    const { body } = await eve.patch(url, { in_app: null });
    expect(body).toEqual({ ...after.body, in_app: fresh.body.in_app });
    expect((await bob.get(url)).body).toEqual(fresh.body);
  });

  it('refuse what they do not know, and the change of a stale copy', async () => {
    const refused = await eve.patch(url, { email: { no_such_kind: true, mentioned: 'yes' } });
    expect(refused.status).toBe(422);
    expect(pluck(refused.body.errors, 'field')).toEqual(
      expect.arrayContaining(['email.mentioned', 'email.no_such_kind']),
    );
    await expectProblem(eve.patch(url, { push: {} }), 422);
    const { etag } = (await eve.get(url)).headers;
    await ok(eve.patch(url, { email: { mentioned: false } }, { 'if-match': etag! }));
    await expectProblem(eve.patch(url, { email: { mentioned: true } }, { 'if-match': etag! }), 412);
  });
});

it('a notification is on the stream of its user alone, live and after a break', async () => {
  const follow = (client: TestClient, headers: Record<string, string> = {}) => {
    let text = '';
    let wake = () => {};
    const request = http.get(
      {
        port,
        host: '127.0.0.1',
        path: '/api/v1/events/stream?events=notification,card.deleted,stream',
        headers: { authorization: `Bearer ${client.token}`, ...headers },
      },
      (response) =>
        response.setEncoding('utf8').on('data', (chunk: string) => {
          text += chunk;
          wake();
        }),
    );
    request.on('error', () => undefined);
    return {
      async until(pattern: RegExp): Promise<RegExpExecArray> {
        for (;;) {
          const found = pattern.exec(text);
          if (found) return found;
          await new Promise<void>((resolve) => (wake = resolve));
        }
      },
      text: () => text,
      close: () => request.destroy(),
    };
  };
  const his = follow(bob);
  const hers = follow(eve);
  await Promise.all([his.until(/stream\.ready/), hers.until(/stream\.ready/)]);
  const card = await changed('On the stream');
  const [, id, data] = await his.until(/id: (\d+)\nevent: notification\.created\ndata: (.*)\n/);
  expect(JSON.parse(data!).data).toMatchObject({
    user_id: bob.userId,
    type: 'card_updated',
    title: 'On the stream was changed',
    link: `/cards/${card}`,
  });
  his.close();
  await changed('After the break');
  const again = follow(bob, { 'last-event-id': id! });
  await again.until(/After the break was changed/);
  expect(again.text()).not.toContain('On the stream was changed');
  // what comes later has reached her: nothing of his is on the way any more
  await admin.delete(`/api/v1/cards/${card}`);
  await hers.until(/event: card\.deleted/);
  expect(hers.text()).not.toContain('notification');
  expect((await eve.get(`/api/v1/changes?event_type=notification.created`)).body.items).toEqual([]);
  again.close();
  hers.close();
});

it('the mail server of the settings can be tried', async () => {
  const smtp = await startSmtp({ user: 'estate', password: 'sesame' });
  const settings = {
    smtp_host: '127.0.0.1',
    smtp_port: smtp.port,
    smtp_tls: false,
    smtp_user: 'estate',
    smtp_from: 'estate@estate.example',
  };
  const attempt = async (smtp_password: string) => {
    await ok(admin.patch('/api/v1/settings/email', { ...settings, smtp_password }));
    return (await admin.post('/api/v1/settings/email/test')).body;
  };
  expect(await attempt('wrong')).toMatchObject({ success: false });
  expect(await attempt('sesame')).toMatchObject({ success: true });
  expect(smtp.mails).toMatchObject([{ to: [admin.email], user: 'estate', from: 'estate@estate.example' }]);
  await smtp.close();
});
