import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, it } from 'vitest';
import { notificationRules } from '../../../../domain/collaboration/notifications/notifications.rules.ts';
import { notificationTypes } from '../../../../domain/collaboration/notifications/notifications.types.ts';
import { command } from '../../../../domain/kernel/command.ts';
import type { EventDraft } from '../../../../domain/kernel/events/row-changes.ts';
import { closeAfterAll, createTestApp, type TestClient } from '../../../support/harness.ts';
import { tellAll, toldTo } from '../../../support/notifications.ts';
import { useSmtp } from '../../../support/smtp.ts';

const t = closeAfterAll(await createTestApp({ OUTBOUND_ALLOW: '127.0.0.1:*' }));
const { db } = t.services;
const admin = await t.as('admin', 'Ann');

let ann: TestClient;
let bob: TestClient;
let eve: TestClient;
beforeEach(async () => {
  await tellAll(t.services);
  const name = randomUUID();
  ann = await t.as('member', `ann-${name}`);
  bob = await t.as('viewer', `bob-${name}`);
  eve = await t.as('viewer', `eve-${name}`);
});

async function card(values: Record<string, unknown> = {}, ...followers: TestClient[]): Promise<string> {
  const answer = await admin.post('/api/v1/cards', {
    type: 'Application',
    name: `Card ${randomUUID()}`,
    ...values,
  });
  expect(answer.status, answer.text).toBe(201);
  for (const { userId } of followers) {
    await t.services
      .db('stakeholders')
      .insert({ card_id: answer.body.id, user_id: userId, role: 'observer' });
  }
  return answer.body.id;
}

async function patch(client: TestClient, id: string, body: unknown): Promise<void> {
  const answer = await client.patch(`/api/v1/cards/${id}`, body);
  expect(answer.status, answer.text).toBe(200);
}

const told = (client: TestClient) => toldTo(t.services, client.userId);
const tell = () => tellAll(t.services);
const emit = async (as: TestClient, ...drafts: EventDraft[]) => {
  const ctx = await t.ctx();
  const caller = { ...ctx.caller, userId: as.userId };
  await command({ ...ctx, caller }, async (work) => {
    for (const draft of drafts) work.emit(draft);
  });
};

describe('a change of a card', () => {
  it('is told to those who hold a role on it, but for the one who made it', async () => {
    const id = await card({ name: 'Claims Desk' }, ann, bob);
    await patch(ann, id, { alias: 'CD', description: 'New.', attributes: { costTotalAnnual: 990011 } });
    await tell();
    expect(await told(bob)).toMatchObject([
      {
        type: 'card_updated',
        title: 'Claims Desk was changed',
        message: expect.stringMatching(/^ann-\S+ has changed alias and description\.$/),
        link: `/cards/${id}`,
        card_id: id,
        actor_id: ann.userId,
        count: 1,
        is_read: false,
        in_app: true,
        mail_pending: false,
      },
    ]);
    expect(await told(ann)).toEqual([]);
    expect(await told(eve)).toEqual([]);
    const { rows } = await t.services.db.raw(
      `select data from events where event_type = 'notification.created' and recipient_id = ?`,
      [bob.userId],
    );
    expect(rows).toHaveLength(1);
    const { title, changes } = rows[0].data;
    expect([title, changes.is_read.new, changes.title.new]).toEqual([title, false, title]);
    expect(JSON.stringify(rows) + JSON.stringify(await told(bob))).not.toMatch(/990011|cost/i);
  });

  it('is not told when only what follows from others has changed, nor of cards that have gone', async () => {
    const id = await card({}, bob);
    const change = { old: 0, new: 10 };
    const data = { id, type: 'Application', name: 'X' };
    await emit(ann, {
      event_type: 'card.updated',
      card_id: id,
      card_type: 'Application',
      data: { ...data, changes: { data_quality: change } },
    });
    const gone = await card({}, bob);
    await patch(admin, gone, { alias: 'G' });
    expect((await admin.delete(`/api/v1/cards/${gone}`)).status).toBe(200);
    await tell();
    expect(await told(bob)).toEqual([]);
  });

  it('tells of approval, archiving and restoring in their own words', async () => {
    const id = await card({ name: 'Desk' }, bob);
    for (const act of ['approval-status?action=reject', 'archive', 'restore']) {
      expect((await admin.post(`/api/v1/cards/${id}/${act}`)).status).toBe(200);
    }
    await tell();
    expect((await told(bob)).map(({ type, title }) => [type, title])).toEqual([
      ['approval_status_changed', 'Desk was rejected'],
      ['card_updated', 'Desk was archived'],
      ['card_updated', 'Desk was restored'],
    ]);
  });

  it('is told only to those who see the card', async () => {
    await t.services
      .db('roles')
      .insert({ key: 'nobody', label: 'Nobody', permissions: '{}' })
      .onConflict('key')
      .ignore();
    const inside = await t.as('nobody', `in-${randomUUID()}`);
    const blind = await t.as('nobody', `out-${randomUUID()}`);
    const id = await card({}, bob);
    await db('stakeholders').insert({ card_id: id, user_id: inside.userId, role: 'observer' });
    // a role that its type does not know gives nothing
    await db('stakeholders').insert({ card_id: id, user_id: blind.userId, role: 'no_such_role' });
    await db('users').where({ id: eve.userId }).update({ is_active: false });
    await db('stakeholders').insert({ card_id: id, user_id: eve.userId, role: 'observer' });
    await patch(admin, id, { alias: 'B' });
    await tell();
    expect([(await told(inside)).length, (await told(blind)).length, (await told(bob)).length]).toEqual([
      1, 0, 1,
    ]);
    expect(await told(eve)).toEqual([]);
  });

  it('follows the switches of its user', async () => {
    const id = await card({}, bob, eve);
    await bob.patch('/api/v1/users/me/notification-preferences', { in_app: { card_updated: false } });
    await eve.patch('/api/v1/users/me/notification-preferences', {
      in_app: { card_updated: false },
      email: { card_updated: true },
    });
    await patch(admin, id, { alias: 'S' });
    await tell();
    expect(await told(bob)).toEqual([]);
    expect(await told(eve)).toMatchObject([{ in_app: false }]);
    expect((await eve.get('/api/v1/notifications')).body.total).toBe(0);
  });
});

describe('people working together', () => {
  it('are told of comments, of being named in one, and of to-dos for them', async () => {
    await useSmtp(t.services, 1);
    const id = await card({ name: 'Service Desk' }, bob);
    const name = `@[Eve](user:${eve.userId})`;
    const comment = await ann.post(`/api/v1/cards/${id}/comments`, { content: `Look, ${name}: costs` });
    expect(comment.status, comment.text).toBe(201);
    const due = await ann.post(`/api/v1/cards/${id}/todos`, {
      description: 'Check it',
      assigned_to: bob.userId,
    });
    expect(due.status, due.text).toBe(201);
    expect(
      (await ann.post(`/api/v1/cards/${id}/todos`, { description: 'My own', assigned_to: ann.userId }))
        .status,
    ).toBe(201);
    await tell();
    expect((await told(bob)).map(({ type, title }) => [type, title])).toEqual([
      ['comment_added', 'New comment on Service Desk'],
      ['todo_assigned', 'A to-do was assigned to you'],
    ]);
    expect(await told(eve)).toMatchObject([
      { type: 'mentioned', message: expect.stringContaining(`: Look, ${name}: costs`) },
    ]);
    expect(await told(ann)).toEqual([]);
    const [mail] = await t.services.db('mails').where({ recipient: eve.email });
    expect(mail.content.subject).toBe('You were mentioned on Service Desk');
    expect(mail.content.text).toContain(': Look, @Eve: costs\n');
    await useSmtp(t.services, 1, { smtp_host: '' });
    const edited = await ann.patch(`/api/v1/comments/${comment.body.id}`, {
      content: `Look, ${name}, @[Bob](user:${bob.userId})`,
    });
    expect(edited.status, edited.text).toBe(200);
    const given = await ann.patch(`/api/v1/todos/${due.body.id}`, { assigned_to: eve.userId });
    expect(given.status, given.text).toBe(200);
    await tell();
    expect((await told(bob)).map(({ type }) => type)).toEqual([
      'comment_added',
      'todo_assigned',
      'mentioned',
    ]);
    expect((await told(eve)).map(({ type }) => type)).toEqual(['mentioned', 'todo_assigned']);
    const counts = (await eve.get('/api/v1/notifications/badge-counts')).body;
    expect(counts).toEqual({ open_todos: 1, pending_surveys: 0 });
  });
});

describe('many changes', () => {
  it('of one batch are one notification and one mail for each follower, also when they come in pieces', async () => {
    await useSmtp(t.services, 1, { app_base_url: 'https://estate.example' });
    await bob.patch('/api/v1/users/me/notification-preferences', { email: { card_updated: true } });
    await t.services.db.raw(
      `with made as (
         insert into cards (type, name) select 'Application', 'Bulk ' || n from generate_series(1, 5000) n returning id
       )
       insert into stakeholders (card_id, user_id, role)
       select id, unnest(?::uuid[]), 'observer' from made`,
      [[ann.userId, bob.userId]],
    );
    const ids: string[] = await t.services.db('cards').where('name', 'like', 'Bulk %').pluck('id');
    const draft = (id: string): EventDraft => ({
      event_type: 'card.updated',
      card_id: id,
      card_type: 'Application',
      data: { id, type: 'Application', name: 'Bulk', changes: { alias: { old: null, new: 'B' } } },
    });
    // one transaction, then a second one of the same batch that touches known cards and a new one
    const one = await card({}, ann, bob);
    await tell();
    const ctx = await t.ctx();
    const acting = { ...ctx, caller: { ...ctx.caller, userId: eve.userId } };
    await command(acting, async (work) => {
      for (const id of ids) work.emit(draft(id));
    });
    await tell();
    const expected = {
      type: 'card_updated',
      count: 5000,
      title: '5000 cards you follow were changed',
      card_id: null,
    };
    expect(await told(ann)).toMatchObject([expected]);
    expect((await told(ann))[0]!.message).toMatch(/^5000 cards you follow were changed by eve-\S+\.$/);
    expect(await told(bob)).toMatchObject([{ ...expected, mail_pending: false }]);
    const mails = await t.services.db('mails').where({ recipient: bob.email });
    expect(mails).toHaveLength(1);
    expect(mails[0].content).toMatchObject({ subject: expected.title });
    expect(mails[0].content.text).toContain('https://estate.example/notifications');
    expect(await t.services.db('mails').where({ recipient: ann.email })).toEqual([]);

    await command(acting, async (work) => {
      for (const id of [...ids.slice(0, 10), one]) work.emit(draft(id));
    });
    await tell();
    expect(await told(bob)).toMatchObject([{ count: 5001, is_read: false, mail_pending: true }]);
    const events = await t.services
      .db('events')
      .where({ recipient_id: ann.userId })
      .orderBy('position')
      .pluck('event_type');
    expect(events[0]).toBe('notification.created');
    expect(new Set(events.slice(1))).toEqual(new Set(['notification.updated']));
    await useSmtp(t.services, 1, { smtp_host: '' });
  });

  it('of one person in a short time are gathered after the first few', async () => {
    const id = await card({}, bob);
    for (let n = 0; n < 12; n += 1) {
      await patch(admin, id, { alias: `N ${n}` });
      if (n === 8) await tell();
    }
    await tell();
    const all = await told(bob);
    expect(all.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 7]);
    expect(all.at(-1)).toMatchObject({ title: '7 cards you follow were changed', card_id: null });
  });

  it('wait for their mail until the job or the opened batch has ended', async () => {
    await useSmtp(t.services, 1);
    await bob.patch('/api/v1/users/me/notification-preferences', { email: { card_updated: true } });
    const id = await card({}, bob);
    const [job] = await db('jobs')
      .insert({ kind: 'import', queue: 'bulk', status: 'running' })
      .returning('id');
    const ctx = await t.ctx();
    await command({ ...ctx, batch: { id: job.id, toolName: 'job import' } }, async (work) => {
      work.emit({
        event_type: 'card.updated',
        card_id: id,
        card_type: 'Application',
        data: { id, type: 'Application', name: 'J', changes: { alias: { old: null, new: 'J' } } },
      });
    });
    await tell();
    const mails = () => db('mails').where({ recipient: bob.email });
    expect([await mails(), (await told(bob)).length]).toEqual([[], 1]);
    await db('jobs').where({ id: job.id }).update({ status: 'succeeded' });
    await tell();
    expect(await mails()).toHaveLength(1);

    // the next one within the time between two mails waits as well
    await patch(admin, id, { alias: 'K' });
    await tell();
    expect(await mails()).toHaveLength(1);
    await db('notification_mailings').update({ last_at: db.raw(`now() - interval '16 minutes'`) });
    await patch(admin, id, { alias: 'L' });
    await tell();
    const [, digest] = await mails().orderBy('id');
    expect(digest.content.subject).toBe('2 notifications of Estate');
    expect(digest.content.text.match(/was changed/g)).toHaveLength(2);
    await useSmtp(t.services, 1, { smtp_host: '' });
  });

  it('that were read before their mail was due are not mailed', async () => {
    await useSmtp(t.services, 1);
    await bob.patch('/api/v1/users/me/notification-preferences', { email: { card_updated: true } });
    await db('notification_mailings').insert({ user_id: bob.userId, last_at: db.fn.now() });
    const id = await card({}, bob);
    await patch(admin, id, { alias: 'R' });
    await tell();
    expect((await bob.post('/api/v1/notifications/mark-all-read')).body.updated).toBe(1);
    await db('notification_mailings').update({ last_at: db.raw(`now() - interval '1 hour'`) });
    await tell();
    expect(await db('mails').where({ recipient: bob.email })).toEqual([]);
    expect(await told(bob)).toMatchObject([{ mail_pending: false }]);
    await useSmtp(t.services, 1, { smtp_host: '' });
  });

  it('that their reader may no longer see are not mailed', async () => {
    await useSmtp(t.services, 1);
    for (const client of [ann, bob]) {
      await client.patch('/api/v1/users/me/notification-preferences', { email: { card_updated: true } });
      await db('notification_mailings').insert({ user_id: client.userId, last_at: db.fn.now() });
    }
    const [kept, lost] = [await card({}, ann, bob), await card({}, ann, bob)];
    for (const id of [kept, lost]) await patch(admin, id, { alias: 'S' });
    await tell();
    expect([(await told(ann)).length, (await told(bob)).length]).toEqual([2, 2]);
    // without inventory.view, the role on one card is the only way to see it
    await db('roles').insert({ key: 'blind', label: 'Blind', permissions: '{}' });
    await db('users').where({ id: bob.userId }).update({ role: 'blind' });
    await db('stakeholders').where({ card_id: lost, user_id: bob.userId }).delete();
    await db('notification_mailings').update({ last_at: db.raw(`now() - interval '1 hour'`) });
    await tell();
    const mailed = async ({ email }: TestClient) =>
      (await db('mails').where({ recipient: email })).map(({ content }) => JSON.stringify(content));
    expect((await mailed(ann))[0]).toContain(`2 notifications`);
    const [mail, ...more] = await mailed(bob);
    expect(more).toEqual([]);
    expect(mail).toContain((await db('cards').where({ id: kept }).first('name')).name);
    expect(mail).not.toContain((await db('cards').where({ id: lost }).first('name')).name);
    expect((await told(bob)).map(({ mail_pending }) => mail_pending)).toEqual([false, false]);

    // the kind of notification needs a permission that was lost
    await db('users').where({ id: ann.userId }).update({ role: 'blind' });
    await db('notifications')
      .where({ user_id: ann.userId, card_id: kept })
      .update({ type: 'risk_assigned', mail_pending: true });
    await db('notification_mailings').update({ last_at: db.raw(`now() - interval '1 hour'`) });
    await tell();
    expect(await mailed(ann)).toHaveLength(1);
    await useSmtp(t.services, 1, { smtp_host: '' });
  });
});

describe('following the feed', () => {
  it('tells nothing twice, however many do it at once', async () => {
    const id = await card({}, ann, bob);
    for (let n = 0; n < 4; n += 1) await patch(admin, id, { alias: `P ${n}` });
    await Promise.all(Array.from({ length: 6 }, tell));
    await tell();
    expect((await told(bob)).length).toBe(4);
    expect((await told(ann)).length).toBe(4);
  });

  it('leaves everything as it was when it breaks off, and tells all the next time', async () => {
    const id = await card({}, bob);
    await patch(admin, id, { alias: 'Z' });
    const place = () => t.services.db('feed_followers').where({ name: 'notifications' }).first('position');
    const before = await place();
    await t.services.db.raw('alter table notifications add constraint broken check (false) not valid');
    await expect(tell()).rejects.toThrow('broken');
    expect([await place(), await told(bob)]).toEqual([before, []]);
    await t.services.db.raw('alter table notifications drop constraint broken');
    await tell();
    expect(await told(bob)).toHaveLength(1);
  });

  it('makes kinds that users can switch', () => {
    for (const rule of Object.values(notificationRules).flat())
      expect(notificationTypes).toHaveProperty(rule.type);
  });
});
