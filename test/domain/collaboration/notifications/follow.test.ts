import { randomUUID } from 'node:crypto';
import { notificationRules } from '../../../../domain/collaboration/notifications/notifications.rules.ts';
import { notificationTypes } from '../../../../domain/collaboration/notifications/notifications.types.ts';
import { command } from '../../../../domain/kernel/command.ts';
import type { Ctx } from '../../../../domain/kernel/context.ts';
import type { EventDraft } from '../../../../domain/kernel/events/row-changes.ts';
import { ok, openApp, type TestClient } from '../../../support/harness.ts';
import { type Told, tellAll, toldTo } from '../../../support/notifications.ts';
import { useSmtp } from '../../../support/smtp.ts';

const { t, db, sql } = await openApp([], { OUTBOUND_ALLOW: '127.0.0.1:*' });
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
  await useSmtp(t.services, 1, { smtp_host: '' });
});

/** Gives a role without its event. */
const observe = (card_id: string, { userId: user_id }: TestClient, role = 'observer') =>
  db('stakeholders').insert({ card_id, user_id, role });
async function card(values: Record<string, unknown> = {}, ...followers: TestClient[]): Promise<string> {
  const { id } = await admin.card({ name: `Card ${randomUUID()}`, ...values });
  for (const follower of followers) await observe(id, follower);
  return id;
}
const patch = (client: TestClient, id: string, body: unknown) =>
  ok(client.patch(`/api/v1/cards/${id}`, body));
const prefer = (client: TestClient, preferences: object) =>
  ok(client.patch('/api/v1/users/me/notification-preferences', preferences));
const mailed = (client: TestClient) => prefer(client, { email: { card_updated: true } });
const mailsTo = ({ email }: TestClient) => db('mails').where({ recipient: email }).orderBy('id');
/** All that waits for its mail is due. */
const wait = () => db('notification_mailings').update({ last_at: db.raw(`now() - interval '1 hour'`) });
/** The event of a change of a card. */
const changed = (id: string, changes: object = { alias: { old: null, new: 'B' } }): EventDraft => ({
  event_type: 'card.updated',
  card_id: id,
  card_type: 'Application',
  data: { id, type: 'Application', name: 'Bulk', changes } as EventDraft['data'],
});

const told = (client: TestClient) => toldTo(t.services, client.userId);
const tell = () => tellAll(t.services);
const emit = async (as: TestClient, drafts: EventDraft[], more: Partial<Ctx> = {}) => {
  const ctx = await t.ctx();
  const caller = { ...ctx.caller, userId: as.userId };
  await command({ ...ctx, caller, ...more }, async (work) => {
    for (const draft of drafts) work.emit(draft);
  });
};
/** What a user was told, each by some members. */
const toldOf = async (client: TestClient, ...names: (keyof Told)[]) =>
  (await told(client)).map((one) => names.map((name) => one[name]));

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
    const rows = await sql.rows`
      select data from events where event_type = 'notification.created' and recipient_id = ${bob.userId}`;
    expect(rows).toHaveLength(1);
    const { title, changes } = rows[0].data;
    expect([title, changes.is_read.new, changes.title.new]).toEqual([title, false, title]);
    expect(JSON.stringify(rows) + JSON.stringify(await told(bob))).not.toMatch(/990011|cost/i);
  });

  it('is not told when only what follows from others has changed, nor of cards that have gone', async () => {
    await emit(ann, [changed(await card({}, bob), { data_quality: { old: 0, new: 10 } })]);
    const gone = await card({}, bob);
    await patch(admin, gone, { alias: 'G' });
    await ok(admin.delete(`/api/v1/cards/${gone}`));
    await tell();
    expect(await told(bob)).toEqual([]);
  });

  it('tells of approval, archiving and restoring in their own words', async () => {
    const id = await card({ name: 'Desk' }, bob);
    for (const act of ['approval-status?action=reject', 'archive', 'restore'])
      await ok(admin.post(`/api/v1/cards/${id}/${act}`));
    await tell();
    expect(await toldOf(bob, 'type', 'title')).toEqual([
      ['approval_status_changed', 'Desk was rejected'],
      ['card_updated', 'Desk was archived'],
      ['card_updated', 'Desk was restored'],
    ]);
  });

  it('is told only to those who see the card', async () => {
    await db('roles').insert({ key: 'nobody', label: 'Nobody', permissions: '{}' });
    const inside = await t.as('nobody', `in-${randomUUID()}`);
    const blind = await t.as('nobody', `out-${randomUUID()}`);
    const id = await card({}, bob);
    await observe(id, inside);
    // a role that its type does not know gives nothing
    await observe(id, blind, 'no_such_role');
    await db('users').where({ id: eve.userId }).update({ is_active: false });
    await observe(id, eve);
    await patch(admin, id, { alias: 'B' });
    await tell();
    expect([(await told(inside)).length, (await told(blind)).length, (await told(bob)).length]).toEqual([
      1, 0, 1,
    ]);
    expect(await told(eve)).toEqual([]);
  });

  it('follows the switches of its user', async () => {
    const id = await card({}, bob, eve);
    await prefer(bob, { in_app: { card_updated: false } });
    await prefer(eve, { in_app: { card_updated: false }, email: { card_updated: true } });
    await patch(admin, id, { alias: 'S' });
    await tell();
    expect(await told(bob)).toEqual([]);
    expect(await told(eve)).toMatchObject([{ in_app: false }]);
    expect((await eve.get('/api/v1/notifications')).body.total).toBe(0);
  });
});

it('notifies people of comments, of mentions in comments, and of to-dos assigned to them', async () => {
  await useSmtp(t.services, 1);
  const id = await card({ name: 'Service Desk' }, bob);
  const name = `@[Eve](user:${eve.userId})`;
  const url = `/api/v1/cards/${id}`;
  const comment = await ann.create(`${url}/comments`, { content: `Look, ${name}: costs` });
  const due = await ann.create(`${url}/todos`, { description: 'Check it', assigned_to: bob.userId });
  await ann.create(`${url}/todos`, { description: 'My own', assigned_to: ann.userId });
  await tell();
  expect(await toldOf(bob, 'type', 'title')).toEqual([
    ['comment_added', 'New comment on Service Desk'],
    ['todo_assigned', 'A to-do was assigned to you'],
  ]);
  expect(await told(eve)).toMatchObject([
    { type: 'mentioned', message: expect.stringContaining(`: Look, ${name}: costs`) },
  ]);
  expect(await told(ann)).toEqual([]);
  const [mail] = await mailsTo(eve);
  expect(mail.content.subject).toBe('You were mentioned on Service Desk');
  expect(mail.content.text).toContain(': Look, @Eve: costs\n');
  await useSmtp(t.services, 1, { smtp_host: '' });
  const content = `Look, ${name}, @[Bob](user:${bob.userId})`;
  await ok(ann.patch(`/api/v1/comments/${comment.id}`, { content }));
  await ok(ann.patch(`/api/v1/todos/${due.id}`, { assigned_to: eve.userId }));
  await tell();
  expect(await toldOf(bob, 'type')).toEqual([['comment_added'], ['todo_assigned'], ['mentioned']]);
  expect(await toldOf(eve, 'type')).toEqual([['mentioned'], ['todo_assigned']]);
  const counts = (await eve.get('/api/v1/notifications/badge-counts')).body;
  expect(counts).toEqual({ open_todos: 1, pending_surveys: 0 });
});

describe('many changes', () => {
  it('of one batch are one notification and one mail for each follower, also when they come in pieces', async () => {
    await useSmtp(t.services, 1, { app_base_url: 'https://estate.example' });
    await mailed(bob);
    await sql.run`with made as (
         insert into cards (type, name) select 'Application', 'Bulk ' || n from generate_series(1, 5000) n returning id
       )
       insert into stakeholders (card_id, user_id, role)
       select id, unnest(${[ann.userId, bob.userId]}::uuid[]), 'observer' from made`;
    const ids: string[] = await db('cards').where('name', 'like', 'Bulk %').pluck('id');
    // one transaction, then a second one of the same batch that touches known cards and a new one
    const one = await card({}, ann, bob);
    await tell();
    const { batch } = await t.ctx();
    const drafts = (some: string[]) => some.map((id) => changed(id));
    await emit(eve, drafts(ids), { batch });
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
    const mails = await mailsTo(bob);
    expect(mails).toHaveLength(1);
    expect(mails[0].content).toMatchObject({ subject: expected.title });
    expect(mails[0].content.text).toContain('https://estate.example/notifications');
    expect(await mailsTo(ann)).toEqual([]);

    await emit(eve, drafts([...ids.slice(0, 10), one]), { batch });
    await tell();
    expect(await told(bob)).toMatchObject([{ count: 5001, is_read: false, mail_pending: true }]);
    const events = await db('events')
      .where({ recipient_id: ann.userId })
      .orderBy('position')
      .pluck('event_type');
    expect(events[0]).toBe('notification.created');
    expect(new Set(events.slice(1))).toEqual(new Set(['notification.updated']));
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
    await mailed(bob);
    const id = await card({}, bob);
    const [job] = await db('jobs')
      .insert({ kind: 'import', queue: 'bulk', status: 'running' })
      .returning('id');
    await emit(admin, [changed(id)], { batch: { id: job.id, toolName: 'job import' } });
    await tell();
    const mails = () => mailsTo(bob);
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
    const [, digest] = await mails();
    expect(digest.content.subject).toBe('2 notifications of Estate');
    expect(digest.content.text.match(/was changed/g)).toHaveLength(2);
  });

  it('that were read before their mail was due are not mailed', async () => {
    await useSmtp(t.services, 1);
    await mailed(bob);
    await db('notification_mailings').insert({ user_id: bob.userId, last_at: db.fn.now() });
    await patch(admin, await card({}, bob), { alias: 'R' });
    await tell();
    expect((await bob.post('/api/v1/notifications/mark-all-read')).body.updated).toBe(1);
    await wait();
    await tell();
    expect(await mailsTo(bob)).toEqual([]);
    expect(await told(bob)).toMatchObject([{ mail_pending: false }]);
  });

  it('that their reader may no longer see are not mailed', async () => {
    await useSmtp(t.services, 1);
    for (const client of [ann, bob]) {
      await mailed(client);
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
    await wait();
    await tell();
    const texts = async (client: TestClient) =>
      (await mailsTo(client)).map(({ content }) => JSON.stringify(content));
    expect((await texts(ann))[0]).toContain(`2 notifications`);
    const [mail, ...more] = await texts(bob);
    expect(more).toEqual([]);
    expect(mail).toContain((await db('cards').where({ id: kept }).first('name')).name);
    expect(mail).not.toContain((await db('cards').where({ id: lost }).first('name')).name);
    expect((await told(bob)).map(({ mail_pending }) => mail_pending)).toEqual([false, false]);

    // the kind of notification needs a permission that was lost
    await db('users').where({ id: ann.userId }).update({ role: 'blind' });
    await db('notifications')
      .where({ user_id: ann.userId, card_id: kept })
      .update({ type: 'risk_assigned', mail_pending: true });
    await wait();
    await tell();
    expect(await texts(ann)).toHaveLength(1);
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
    await patch(admin, await card({}, bob), { alias: 'Z' });
    const place = () => db('feed_followers').where({ name: 'notifications' }).first('position');
    const before = await place();
    await db.raw('alter table notifications add constraint broken check (false) not valid');
    await expect(tell()).rejects.toThrow('broken');
    expect([await place(), await told(bob)]).toEqual([before, []]);
    await db.raw('alter table notifications drop constraint broken');
    await tell();
    expect(await told(bob)).toHaveLength(1);
  });

  it('makes kinds that users can switch', () => {
    for (const rule of Object.values(notificationRules).flat())
      expect(notificationTypes).toHaveProperty(rule.type);
  });
});
