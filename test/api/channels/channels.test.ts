import { MOST_CHANNELS } from '../../../domain/collaboration/channels/channels.commands.ts';
import { slackMessage, teamsMessage } from '../../../integrations/collaboration/channels/channel.messages.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { startChat } from '../../emulators/chat.ts';
import { closeAfterAll, expectInvalid, expectProblem, ok, openApp } from '../../support/harness.ts';
import { until } from '../../support/until.ts';
import { runNow } from '../extractions/extractions.fixture.ts';

const { t, db, member, admin } = await openApp(['member', 'admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
closeAfterAll(await startWorkers(t.services));
const chat = closeAfterAll(await startChat());
const base = '/api/v1/channels';
// hosts that OUTBOUND_ALLOW names are for those with `admin.settings`
const owner = await t.as('admin', 'owner');
await admin.patch('/api/v1/settings/email', { app_base_url: 'https://estate.example' });

beforeEach(() => {
  chat.taken.length = 0;
  chat.fault = () => undefined;
});

const slack = (more: object = {}) => ({ name: 'Team <b>', kind: 'slack', url: chat.slack, ...more });
const teams = (more: object = {}) => ({ name: 'Team', kind: 'teams', url: chat.teams, ...more });
const message = () => until('the message', async () => chat.taken[0]);
const outcome = (id: string) =>
  until('the outcome', async () => {
    const row = await db('mails').where({ channel_id: id }).orderBy('id', 'desc').first();
    return row?.outcome ? (row.outcome as string) : undefined;
  });

it('is made, read, listed, tested, changed and deleted, and never tells its address', async () => {
  const made = await owner.post(base, slack());
  expect(made.status, made.text).toBe(201);
  const { id } = made.body;
  expect(made.body).toMatchObject({
    kind: 'slack',
    host: new URL(chat.slack).host,
    status: 'active',
    is_shared: false,
  });
  expect((await admin.get(base)).body.items).toEqual([]);
  await expectProblem(admin.get(`${base}/${id}`), 404);
  await ok(owner.post(`${base}/${id}/test`), 202);
  expect((await message()).body.blocks[0].text.text).toBe('Team &lt;b&gt;');
  expect(await outcome(id)).toBe('sent');
  const changed = await owner.patch(`${base}/${id}`, { name: 'Other', url: `${chat.slack}` });
  expect(changed.body.name).toBe('Other');
  const events = JSON.stringify(await db('events').whereRaw(`data ->> 'id' = ?`, [id]));
  for (const text of [made.text, changed.text, events]) expect(text).not.toContain('/services/');
  await ok(owner.delete(`${base}/${id}`), 204);
  await expectProblem(owner.get(`${base}/${id}`), 404);
});

it('takes only addresses of its service', async () => {
  const at = (kind: string, url: string) => member.post(base, { name: 'x', kind, url });
  for (const url of [
    'https://example.com/x',
    'http://hooks.slack.com/x',
    'https://hooks.slack.com.example.com/x',
    'https://10.0.0.1/x',
  ])
    await expectInvalid(at('slack', url), 'url refused_address');
  await expectInvalid(at('teams', 'https://hooks.slack.com/services/T/B/x'), 'url refused_address');
  await ok(at('slack', 'https://hooks.slack.com/services/T/B/x'), 201);
  await ok(at('teams', 'https://prod-1.westeurope.logic.azure.com:443/workflows/x?sig=y'), 201);
  await expectInvalid(member.post(base, slack()), 'url refused_address');
  await expectProblem(member.post(base, slack({ is_shared: true })), 403);
  await expectInvalid(admin.post(base, slack({ is_shared: true, notifies: true })), 'notifies not_offered');
});

it('is one of a bounded number, and is tested ten times a minute', async () => {
  const many = await t.as('member', 'many');
  const address = 'https://hooks.slack.com/services/T/B/x';
  for (let n = 0; n < MOST_CHANNELS.own; n += 1) await many.create(base, slack({ url: address }));
  const refused = await many.post(base, slack({ url: address }));
  expect([refused.status, refused.body.code]).toEqual([409, 'limit_reached']);
  expect(refused.body.detail).toContain('at most 20 channels');
  const tester = await t.as('admin', 'tester');
  const { id } = await tester.create(base, slack());
  for (let n = 0; n < 10; n += 1) await ok(tester.post(`${base}/${id}/test`), 202);
  const late = await tester.post(`${base}/${id}/test`);
  expect([late.status, late.body.code]).toEqual([429, 'too_many_requests']);
  expect(Number(late.headers['retry-after'])).toBeGreaterThan(0);
  await until('the messages', async () => chat.taken.length === 10);
});

it('waits where it is asked to, and is sent once', async () => {
  const { id } = await owner.create(base, teams());
  let asked = 0;
  chat.fault = () => {
    asked += 1;
    return asked === 1 ? { status: 429, retryAfter: 1 } : undefined;
  };
  await ok(owner.post(`${base}/${id}/test`), 202);
  expect((await message()).service).toBe('teams');
  expect(await outcome(id)).toBe('sent');
  expect([asked, chat.taken.length]).toEqual([2, 1]);
});

it('pauses where it was revoked, tells the owner, and goes on with a new address', async () => {
  const { id } = await owner.create(base, slack({ name: 'Revoked' }));
  chat.fault = () => ({ status: 404, text: 'no_service' });
  await ok(owner.post(`${base}/${id}/test`), 202);
  expect(await outcome(id)).toBe('refused');
  const told = await until('the notification', async () =>
    db('notifications').where({ user_id: owner.userId, type: 'channel_paused' }).first(),
  );
  expect(told.title).toBe('The channel Revoked is paused');
  expect((await owner.get(`${base}/${id}`)).body).toMatchObject({
    status: 'paused',
    paused_reason: 'It responded with 404: the webhook was revoked or deleted: create a new one.',
  });
  await expectProblem(owner.post(`${base}/${id}/test`), 409);
  chat.fault = () => undefined;
  await ok(owner.patch(`${base}/${id}`, { url: chat.slack, status: 'active' }));
  await ok(owner.post(`${base}/${id}/test`), 202);
  await message();
});

it('does not send again what may have arrived', async () => {
  const { id } = await owner.create(base, slack());
  chat.fault = () => 'reset';
  await ok(owner.post(`${base}/${id}/test`), 202);
  expect(await outcome(id)).toBe('unconfirmed');
  expect(chat.taken).toHaveLength(1);
});

it('gets the notifications of its owner alone', async () => {
  const doer = await t.as('admin', 'doer');
  const { id } = await doer.create(base, slack({ notifies: true }));
  const card = (await admin.post('/api/v1/cards', { type: 'Application', name: 'Payroll' })).body.id;
  await ok(
    admin.post(`/api/v1/cards/${card}/todos`, { description: 'Look & see', assigned_to: doer.userId }),
    201,
  );
  const { body } = await message();
  expect(JSON.stringify(body)).toContain('Look &amp; see');
  expect(JSON.stringify(body)).toContain('<https://estate.example/');
  expect(await outcome(id)).toBe('sent');
});

it('gets the kinds whose switch for chats is on, whatever is mailed', async () => {
  const doer = await t.as('admin', 'chatter');
  const { id } = await doer.create(base, slack({ notifies: true }));
  const preferences = '/api/v1/users/me/notification-preferences';
  const before = await ok(doer.get(preferences));
  expect(before.chat).toEqual(before.email);
  const set = { email: { todo_assigned: false }, chat: { todo_assigned: true, mentioned: false } };
  const after = await ok(doer.patch(preferences, set));
  expect([after.chat.todo_assigned, after.chat.mentioned]).toEqual([true, false]);
  const card = (await admin.post('/api/v1/cards', { type: 'Application', name: 'Chats' })).body.id;
  const about = { description: 'only in chats', assigned_to: doer.userId };
  await admin.create(`/api/v1/cards/${card}/todos`, about);
  const { body } = await message();
  expect(JSON.stringify(body)).toContain('only in chats');
  expect(await outcome(id)).toBe('sent');
  const content = `@[Chatter](user:${doer.userId}): only mailed`;
  await admin.create(`/api/v1/cards/${card}/comments`, { content });
  const mention = await until('the notification', async () =>
    db('notifications').where({ user_id: doer.userId, type: 'mentioned' }).first(),
  );
  expect(mention).toMatchObject({ mail_pending: true, chat_pending: false });
  expect((await ok(doer.patch(preferences, { email: null, chat: null }))).chat).toEqual(before.chat);
});

it('gets scheduled reports with a link, as its owner sees them', async () => {
  const { id: channel_id } = await admin.create(base, teams({ is_shared: true, name: 'Everybody' }));
  const saved = await member.create('/api/v1/saved-reports', {
    name: 'Costs',
    report_type: 'cost',
    config: { path: '/reports/cost', search: { type: 'Application' } },
  });
  const schedule = {
    name: 'Weekly',
    cron: '0 7 * * 1',
    report: { saved_report_id: saved.id, format: 'pdf' },
    destination: { kind: 'channel', channel_id },
  };
  const { id } = await member.create('/api/v1/extraction-schedules', schedule);
  const run = await runNow(t, member, id);
  const card = JSON.stringify((await message()).body);
  expect(card).toContain(`https://estate.example${run.links.file}`);
  expect(card).toContain('Data quality');
  const { display_name: name } = (await member.get('/api/v1/auth/me')).body;
  expect(card).toContain(`Sent for ${name} by the schedule “Weekly” of `);
  const { id: own } = await admin.create(base, slack());
  await expectInvalid(
    member.post('/api/v1/extraction-schedules', {
      ...schedule,
      destination: { kind: 'channel', channel_id: own },
    }),
    'destination.channel_id refused_channel',
  );
  await expectProblem(owner.patch(`${base}/${channel_id}`, { is_shared: false }), 403);
  await ok(admin.patch(`${base}/${channel_id}`, { is_shared: false }));
  expect((await runNow(t, member, id, 'failed')).error.code).toBe('forbidden');
  expect((await member.get(`/api/v1/extraction-schedules/${id}`)).body.status).toBe('paused');
});

it('fits into the limits of both services, and formats nothing that others have written', () => {
  const long = '*x* <!channel> & `y` | '.repeat(400);
  const items = Array.from({ length: 80 }, () => ({
    title: long,
    text: long,
    url: 'https://a.example/?x=1&y=2|3',
  }));
  const parts = {
    heading: long,
    paragraphs: [long],
    items,
    button: { label: 'Open', url: 'https://a.example' },
    footer: [long],
  };
  const sent = JSON.stringify(slackMessage(parts));
  expect(sent).not.toContain('<!channel>');
  // the text in place of the blocks
  expect(JSON.parse(sent)).toMatchObject({
    mrkdwn: false,
    text: expect.stringContaining('&lt;!channel&gt; &amp;'),
  });
  expect(JSON.parse(sent).blocks.length).toBeLessThanOrEqual(50);
  expect(Buffer.byteLength(JSON.stringify(teamsMessage(parts)))).toBeLessThanOrEqual(28 * 1024);
  expect(JSON.stringify(teamsMessage(parts))).not.toContain('"TextBlock"');
});
