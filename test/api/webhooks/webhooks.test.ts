import { createHmac, timingSafeEqual } from 'node:crypto';
import { startWebhooks } from '../../../workers/collaboration/webhooks.ts';
import { startWebhookReceiver } from '../../emulators/webhook-receiver.ts';
import { closeAfterAll, expectInvalid, expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import { until } from '../../support/until.ts';

/** Maximum difference in seconds between a signature's time and the receiver's clock. */
const TOLERANCE_SECONDS = 300;

/** The receivers' check: whether one of the header's signatures is recent and was created with the secret. */
function verifySignature(secret: string, header: string, body: string, nowSeconds: number): boolean {
  const parts = header.split(',').map((part) => part.split('=') as [string, string]);
  const seconds = Number(parts.find(([name]) => name === 't')?.[1]);
  if (!(Math.abs(nowSeconds - seconds) <= TOLERANCE_SECONDS)) return false;
  const expected = Buffer.from(createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex'));
  return parts.some(([name, given]) => {
    const found = Buffer.from(given ?? '');
    return name === 'v1' && found.length === expected.length && timingSafeEqual(found, expected);
  });
}

const { t, db, sql, admin, member } = await openApp(['admin', 'member'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const receiver = closeAfterAll(await startWebhookReceiver());
let sender = startWebhooks(t.services);

afterAll(() => sender.stop());
afterEach(async () => {
  receiver.behave = () => 204;
  receiver.received.length = 0;
  await db('webhooks').delete();
});

const now = () => Math.floor(Date.now() / 1000);
const subscribe = async (more: object = {}, client = admin) => {
  const answer = await client.create('/api/v1/webhooks', { name: 'Test', url: receiver.url, ...more });
  return { id: answer.webhook.id as string, secret: answer.secret as string, body: answer };
};
const newCard = async (values: object = {}) => (await admin.card(values)).id as string;
const arrived = (count: number) =>
  until(`${count} deliveries`, async () =>
    receiver.received.length >= count ? receiver.received : undefined,
  );
const due = (id: string) =>
  db('webhook_deliveries').where({ webhook_id: id }).update('next_attempt_at', new Date(0));
const read = async (id: string) => (await admin.get(`/api/v1/webhooks/${id}`)).body;
const log = async (id: string, query = '') =>
  (await admin.get(`/api/v1/webhooks/${id}/deliveries${query}`)).body.items;

describe('a webhook', () => {
  it('is made, read, listed, changed and deleted, and none of it tells the secret again', async () => {
    const { id, secret } = await subscribe({ event_types: ['card.created'], card_types: ['Application'] });
    expect(secret).toMatch(/^whsec_/);
    const one = await admin.get(`/api/v1/webhooks/${id}`);
    const { body } = one;
    expect(body).toMatchObject({ name: 'Test', status: 'active', event_types: ['card.created'], pending: 0 });
    const list = await admin.get('/api/v1/webhooks?search=test');
    expect(pluck(list.body.items, 'id')).toEqual([id]);
    const changed = await admin.patch(
      `/api/v1/webhooks/${id}`,
      { name: 'Renamed', event_types: null },
      { 'if-match': one.headers.etag as string },
    );
    expect([changed.status, changed.body.name, changed.body.event_types]).toEqual([200, 'Renamed', null]);
    const same = await admin.patch(`/api/v1/webhooks/${id}`, {});
    // its position moves on as events go by, whatever is asked
    expect([same.status, same.body]).toEqual([200, { ...changed.body, position: same.body.position }]);
    await ok(admin.delete(`/api/v1/webhooks/${id}`), 204);
    await expectProblem(admin.get(`/api/v1/webhooks/${id}`), 404);
    const events = await db('events').whereRaw(`data ->> 'id' = ?`, [id]).orderBy('position');
    expect(pluck(events, 'event_type')).toEqual(['webhook.created', 'webhook.updated', 'webhook.deleted']);
    expect(events[1].data.changes).toEqual({
      name: { old: 'Test', new: 'Renamed' },
      event_types: { old: ['card.created'], new: null },
    });
    for (const text of [one.text, list.text, changed.text, JSON.stringify(events)])
      expect(text).not.toContain(secret);
    expect(await db('webhooks').whereLike('secret', `%${secret}%`)).toEqual([]);
  });

  it.each([
    [{ url: 'http://example.com/' }, 'url', 'refused_address'],
    [{ url: 'https://10.0.0.1/' }, 'url', 'refused_address'],
    [{ url: 'https://u:p@example.com/' }, 'url', 'refused_address'],
    [{ name: '  ' }, 'name', 'required'],
    [{ event_types: ['auth.login'] }, 'event_types.0', 'unknown_event_type'],
    [{ event_types: ['no.such'] }, 'event_types.0', 'unknown_event_type'],
    [{ card_types: ['NoSuch'] }, 'card_types.0', 'unknown_type'],
  ])('is refused with %j', async (more, field, code) => {
    const answer = await admin.post('/api/v1/webhooks', { name: 'Bad', url: receiver.url, ...more });
    await expectInvalid(answer, `${field} ${code}`);
  });

  it('is not for those who may not change settings', async () => {
    const { id } = await subscribe();
    for (const answer of [
      await member.get('/api/v1/webhooks'),
      await member.post('/api/v1/webhooks', { name: 'X', url: receiver.url }),
      await member.get(`/api/v1/webhooks/${id}/deliveries`),
      await member.post(`/api/v1/webhooks/${id}/ping`),
    ])
      await expectProblem(answer, 403, 'admin.settings');
  });
});

describe('deliveries', () => {
  it('hold the change as the feed tells it, signed', async () => {
    const { secret } = await subscribe({ event_types: ['card.created', 'card.updated'] });
    const card = await newCard({ attributes: { costTotalAnnual: 7 } });
    await admin.patch(`/api/v1/cards/${card}`, { alias: 'Second' });
    const [created, updated] = await arrived(2);
    const changes = await admin.get('/api/v1/changes?event_type=card.created,card.updated&limit=10000');
    const items = changes.body.items.filter((item: { card_id: string }) => item.card_id === card);
    for (const [n, delivery] of [created!, updated!].entries()) {
      const { id, webhook_id, ...event } = delivery.body;
      expect(event).toEqual(items[n]);
      expect(delivery.headers['estate-delivery']).toBe(id);
      expect(delivery.headers['estate-position']).toBe(event.position);
      expect(webhook_id).toMatch(/^[0-9a-f-]{36}$/);
      const signature = delivery.headers['estate-signature'] as string;
      expect(verifySignature(secret, signature, delivery.text, now())).toBe(true);
      expect(verifySignature(secret, signature, `${delivery.text} `, now())).toBe(false);
      expect(verifySignature(secret, signature, delivery.text, now() + 3_600)).toBe(false);
      expect(verifySignature('whsec_other', signature, delivery.text, now())).toBe(false);
    }
  });

  it('are of the events and types that were asked for', async () => {
    await subscribe({ event_types: ['card.created'], card_types: ['ITComponent'] });
    await newCard();
    const wanted = await newCard({ type: 'ITComponent' });
    await admin.patch(`/api/v1/cards/${wanted}`, { alias: 'x' });
    await subscribe({ name: 'Marker', event_types: ['card.deleted'] });
    await admin.delete(`/api/v1/cards/${wanted}`);
    const all = await arrived(2);
    // two webhooks wait for nobody but themselves
    const lines = all.map(({ body }) => `${body.event_type} ${body.card_id}`).sort();
    expect(lines).toEqual([`card.created ${wanted}`, `card.deleted ${wanted}`]);
  });

  it('keep the order of a card while one fails, and do not hold up others', async () => {
    const { id } = await subscribe({ event_types: ['card.created', 'card.updated'] });
    receiver.behave = ({ body }) => (body.data.name === 'Stuck' ? 500 : 204);
    const stuck = await newCard({ name: 'Stuck' });
    await admin.patch(`/api/v1/cards/${stuck}`, { alias: 'one' });
    const other = await newCard({ name: 'Other' });
    await arrived(2);
    expect(receiver.received.map(({ body }) => body.card_id)).toContain(other);
    // what has arrived is noted a moment later
    const pending = await until('both attempts to be noted', async () => {
      const rows: { error: string | null }[] = await log(id, '?status=pending');
      return rows.length === 2 && rows.some(({ error }) => error !== null) && rows;
    });
    expect(pending.map(({ error }) => error)).toContain('the receiver responded with 500');
    receiver.behave = () => 204;
    await due(id);
    await until('all to be delivered', async () => (await read(id)).pending === 0);
    const ofStuck = receiver.received
      .filter(({ body }) => body.card_id === stuck)
      .map(({ body }) => body.event_type);
    expect(ofStuck.slice(-2)).toEqual(['card.created', 'card.updated']);
    expect(ofStuck.filter((type) => type === 'card.updated')).toHaveLength(1);
    expect((await read(id)).consecutive_failures).toBe(0);
  });

  it.each(['hang', 'cut', 'redirect'] as const)(
    'that meet a receiver who does %s are tried again',
    async (behaviour) => {
      const { id } = await subscribe({ event_types: ['card.created'] });
      receiver.behave = (_delivery, count) => (count === 1 ? behaviour : 204);
      const card = await newCard();
      await arrived(1);
      if (behaviour === 'hang') {
        // its sender dies: the lease ends
        await sender.stop();
        sender = startWebhooks(t.services);
      } else {
        await until('the failure to be noted', async () => (await log(id))[0]?.error);
      }
      await due(id);
      await until('the delivery', async () => (await log(id))[0]?.status === 'delivered');
      expect(receiver.received.map(({ body }) => body.card_id)).toEqual([card, card]);
      expect(new Set(receiver.received.map(({ body }) => body.id)).size).toBe(1);
    },
  );

  it('wait as long as the receiver asks', async () => {
    const { id } = await subscribe({ event_types: ['card.created'] });
    receiver.behave = () => ({ status: 429, retryAfter: 1_800 });
    await newCard();
    const [row] = await until('the refusal', async () => {
      const rows = await log(id);
      return rows[0]?.error ? rows : undefined;
    });
    expect(Date.parse(row.next_attempt_at) - Date.now()).toBeGreaterThan(1_500_000);
  });

  it('die after 24 hours, and live again when replayed', async () => {
    const { id } = await subscribe({ event_types: ['card.created'] });
    receiver.behave = () => 503;
    await newCard();
    await until('the first failure', async () => (await log(id))[0]?.error);
    await db('webhook_deliveries')
      .where({ webhook_id: id })
      .update({ expires_at: new Date(0), next_attempt_at: new Date(0) });
    await until('the end', async () => (await log(id, '?status=dead')).length === 1);
    receiver.behave = () => 204;
    const [dead] = await log(id);
    await ok(admin.post(`/api/v1/webhooks/${id}/deliveries/${dead.id}/replay`), 204);
    await until('the delivery', async () => (await log(id))[0]?.status === 'delivered');
  });

  it('are signed with both secrets while one follows the other', async () => {
    const { id, secret } = await subscribe();
    const rotated = await ok(admin.post(`/api/v1/webhooks/${id}/rotate-secret`));
    await ok(admin.post(`/api/v1/webhooks/${id}/ping`), 202);
    const [ping] = await arrived(1);
    expect(ping!.body).toMatchObject({ event_type: 'webhook.ping', webhook_id: id });
    const signature = ping!.headers['estate-signature'] as string;
    for (const each of [secret, rotated.secret])
      expect(verifySignature(each, signature, ping!.text, now())).toBe(true);
  });

  it('tell a secret again for the same key, and keep it sealed until then', async () => {
    const { id } = await subscribe();
    const key = { 'idempotency-key': `rotate-${id}` };
    const url = `/api/v1/webhooks/${id}/rotate-secret`;
    const { secret } = (await admin.post(url, undefined, key)).body;
    expect((await admin.post(url, undefined, key)).body.secret).toBe(secret);
    const [kept] = await db('idempotency_keys').where({ key: key['idempotency-key'] });
    expect(JSON.stringify(kept)).not.toContain(secret);
  });

  it('start again from a position', async () => {
    const { id, body } = await subscribe({ event_types: ['card.created'] });
    const card = await newCard();
    await arrived(1);
    await ok(admin.post(`/api/v1/webhooks/${id}/replay`, { after: body.webhook.position }), 202);
    const all = await arrived(2);
    expect(all.map((delivery) => delivery.body.card_id)).toEqual([card, card]);
    expect(new Set(all.map((delivery) => delivery.body.id)).size).toBe(2);
    await expectProblem(admin.post(`/api/v1/webhooks/${id}/replay`, { after: '999999999' }), 422);
  });

  it('stop while paused, lose nothing, and refuse to be hurried', async () => {
    const { id } = await subscribe({ event_types: ['card.created'] });
    expect((await admin.patch(`/api/v1/webhooks/${id}`, { status: 'paused' })).body.paused_reason).toBe(
      'paused by hand',
    );
    const card = await newCard();
    await expectProblem(admin.post(`/api/v1/webhooks/${id}/ping`), 409);
    expect(receiver.received).toEqual([]);
    await admin.patch(`/api/v1/webhooks/${id}`, { status: 'active' });
    const [delivery] = await arrived(1);
    expect(delivery!.body.card_id).toBe(card);
  });

  it('end when the receiver says that it is gone', async () => {
    const { id } = await subscribe({ event_types: ['card.created'] });
    const program = { display_name: 'Robot', role: 'admin' };
    const { body: robot } = await admin.post('/api/v1/service-accounts', program);
    // a program has no mail: its owner is told
    await db('webhooks').where({ id }).update({ owner_id: robot.id });
    receiver.behave = () => 410;
    await newCard();
    await until('the pause', async () => (await read(id)).status === 'paused');
    const mail = await db('mails').orderBy('id', 'desc').first();
    expect(mail.content.subject).toBe('The webhook Test is paused');
    expect(mail.recipient).toBe(admin.email);
  });

  it('hold no costs that their owner may not see, and end with the owner', async () => {
    const owner = await t.holding('inventory.view', 'admin.settings');
    const { id } = await subscribe({ event_types: ['card.created'] }, owner);
    await newCard({ attributes: { costTotalAnnual: 424_242 } });
    const [delivery] = await arrived(1);
    expect(delivery!.text).not.toContain('424242');
    await db('users').where({ id: owner.userId }).update({ is_active: false });
    await newCard();
    await until('the pause', async () => (await read(id)).status === 'paused');
    expect(receiver.received).toHaveLength(1);
  });
});

/** Waits until everything in the feed has been planned and each delivery has ended. */
const sent = (id: string) =>
  until('the feed to be seen to', async () => {
    const rows = await sql.rows`select w.position >= (select max(position) from events) as planned,
         exists (select from webhook_deliveries d where d.webhook_id = w.id and d.status = 'pending') as pending
       from webhooks w where w.id = ${id}`;
    return rows[0].planned && !rows[0].pending;
  });

const base = '/api/v1/webhooks';
/** Holds `admin.settings` alone, and so sees no card. */
const settings = await t.holding('admin.settings');
const changes: [string, (id: string, position: string) => Promise<{ status: number; text: string }>][] = [
  ['another address', (id) => settings.patch(`${base}/${id}`, { url: receiver.url })],
  ['other events', (id) => settings.patch(`${base}/${id}`, { event_types: ['card.created'] })],
  ['other card types', (id) => settings.patch(`${base}/${id}`, { card_types: ['Application'] })],
  ['another secret', (id) => settings.post(`${base}/${id}/rotate-secret`)],
  ['a replay', (id, after) => settings.post(`${base}/${id}/replay`, { after })],
];

describe('the owner', () => {
  it.each(changes)('is whoever asked for %s, and sees what it delivers', async (_, change) => {
    const { id, body } = await subscribe();
    const { position } = body.webhook;
    const changed = await change(id, position);
    expect(changed.status, changed.text).toBeLessThan(300);
    expect(await read(id)).toMatchObject({ owner_id: settings.userId });
    await newCard();
    await settings.post(`${base}/${id}/replay`, { after: position });
    await sent(id);
    expect(receiver.received.map(({ text }) => text)).toEqual([]);
  });

  it('is whoever sends one delivery again, as far as he sees it', async () => {
    const { id } = await subscribe();
    await newCard();
    await sent(id);
    receiver.received.length = 0;
    const [first] = await log(id);
    await ok(settings.post(`${base}/${id}/deliveries/${first.id}/replay`), 204);
    await sent(id);
    expect(receiver.received).toEqual([]);
    expect(await read(id)).toMatchObject({ owner_id: settings.userId });
  });

  it('is whoever resumes it', async () => {
    const { id } = await subscribe();
    await admin.patch(`${base}/${id}`, { status: 'paused' });
    await newCard();
    await settings.patch(`${base}/${id}`, { name: 'Renamed' });
    expect(await read(id)).toMatchObject({ owner_id: admin.userId });
    const resumed = await settings.patch(`${base}/${id}`, { status: 'active' });
    expect(resumed.body).toMatchObject({ owner_id: settings.userId, status: 'active' });
    await sent(id);
    expect(receiver.received).toEqual([]);
    const rows = await sql.rows`
      select data -> 'changes' -> 'owner_id' as owner from events where event_type = 'webhook.updated' and
        data ->> 'id' = ${id}
     order by position desc limit 1`;
    expect(rows[0].owner).toEqual({ old: admin.userId, new: settings.userId });
  });

  it('who may not set up webhooks any more pauses it, before a delivery that waits goes out', async () => {
    const owner = await t.as('admin', 'leaving');
    const { id } = await subscribe({}, owner);
    receiver.behave = () => 503;
    await newCard();
    await until('the first failure', async () =>
      (await log(id)).find(({ error }: { error: string }) => error),
    );
    receiver.behave = () => 204;
    receiver.received.length = 0;
    await db('users').where({ id: owner.userId }).update({ role: 'member' });
    await due(id);
    await db.raw(`select pg_notify('estate_feed', '')`);
    const paused = await until('the pause', async () => {
      const webhook = await read(id);
      return webhook.status === 'paused' ? webhook : undefined;
    });
    expect(paused.paused_reason).toBe('the owner needs the permission admin.settings');
    expect(paused.pending).toBeGreaterThan(0);
    expect(receiver.received).toEqual([]);
  });
});
