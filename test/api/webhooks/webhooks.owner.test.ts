import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, expect, it } from 'vitest';
import { startWebhooks } from '../../../workers/webhooks.ts';
import { startWebhookReceiver } from '../../emulators/webhook-receiver.ts';
import { closeAfterAll, ok, openApp } from '../../support/harness.ts';
import { until } from '../../support/until.ts';

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
/** Holds `admin.settings` alone. */
const settings = await t.holding('admin.settings');
const receiver = closeAfterAll(await startWebhookReceiver());
const sender = startWebhooks(t.services);

afterAll(async () => {
  await sender.stop();
});
afterEach(async () => {
  receiver.received.length = 0;
  await db('webhooks').delete();
});

const read = async (id: string) => (await admin.get(`/api/v1/webhooks/${id}`)).body;

const subscribe = async (url = receiver.url): Promise<{ id: string; position: string }> =>
  (await admin.create('/api/v1/webhooks', { name: 'Test', url })).webhook;

async function newCard(): Promise<string> {
  const body = { type: 'Application', name: randomUUID(), attributes: { costTotalAnnual: 4711 } };
  return (await admin.create('/api/v1/cards', body)).id;
}

/** Waits until everything in the feed has been planned and each delivery has ended. */
const sent = (id: string) =>
  until('the feed to be seen to', async () => {
    const { rows } = await db.raw(
      `select w.position >= (select max(position) from events) as planned,
         exists (select from webhook_deliveries d where d.webhook_id = w.id and d.status = 'pending') as pending
       from webhooks w where w.id = ?`,
      [id],
    );
    return rows[0].planned && !rows[0].pending;
  });

const base = '/api/v1/webhooks';
const changes: [string, (id: string, position: string) => Promise<{ status: number; text: string }>][] = [
  ['another address', (id) => settings.patch(`${base}/${id}`, { url: receiver.url })],
  ['other events', (id) => settings.patch(`${base}/${id}`, { event_types: ['card.created'] })],
  ['other card types', (id) => settings.patch(`${base}/${id}`, { card_types: ['Application'] })],
  ['another secret', (id) => settings.post(`${base}/${id}/rotate-secret`)],
  ['a replay', (id, after) => settings.post(`${base}/${id}/replay`, { after })],
];

it.each(changes)('with %s a webhook delivers what the one who asked for it sees', async (_, change) => {
  const { id, position } = await subscribe();
  const changed = await change(id, position);
  expect(changed.status, changed.text).toBeLessThan(300);
  expect(await read(id)).toMatchObject({ owner_id: settings.userId });
  await newCard();
  await settings.post(`${base}/${id}/replay`, { after: position });
  await sent(id);
  expect(receiver.received.map(({ text }) => text)).toEqual([]);
});

it('sends one delivery again as far as the one who asks for it sees it', async () => {
  const { id } = await subscribe();
  await newCard();
  await sent(id);
  receiver.received.length = 0;
  const [first] = (await admin.get(`${base}/${id}/deliveries`)).body.items;
  await ok(settings.post(`${base}/${id}/deliveries/${first.id}/replay`), 204);
  await sent(id);
  expect(receiver.received).toEqual([]);
  expect(await read(id)).toMatchObject({ owner_id: settings.userId });
});

it('that is resumed goes on for the one who resumes it', async () => {
  const { id } = await subscribe();
  await admin.patch(`${base}/${id}`, { status: 'paused' });
  await newCard();
  await settings.patch(`${base}/${id}`, { name: 'Renamed' });
  expect(await read(id)).toMatchObject({ owner_id: admin.userId });
  const resumed = await settings.patch(`${base}/${id}`, { status: 'active' });
  expect(resumed.body).toMatchObject({ owner_id: settings.userId, status: 'active' });
  await sent(id);
  expect(receiver.received).toEqual([]);
  const { rows } = await db.raw(
    `select data -> 'changes' -> 'owner_id' as owner from events where event_type = 'webhook.updated' and data ->> 'id' = ?
     order by position desc limit 1`,
    [id],
  );
  expect(rows[0].owner).toEqual({ old: admin.userId, new: settings.userId });
});

it('pauses when its owner may not set up webhooks any more, before a delivery that waits goes out', async () => {
  const owner = await t.as('admin', 'leaving');
  const answer = await owner.post(base, { name: 'Test', url: receiver.url });
  const { id } = answer.body.webhook;
  receiver.behave = () => 503;
  await newCard();
  await until('the first failure', async () =>
    (await admin.get(`${base}/${id}/deliveries`)).body.items.find(({ error }: { error: string }) => error),
  );
  receiver.behave = () => 204;
  receiver.received.length = 0;
  await db('users').where({ id: owner.userId }).update({ role: 'member' });
  await db('webhook_deliveries')
    .where({ webhook_id: id })
    .update({ next_attempt_at: new Date(0) });
  await db.raw(`select pg_notify('estate_feed', '')`);
  const paused = await until('the pause', async () => {
    const webhook = await read(id);
    return webhook.status === 'paused' ? webhook : undefined;
  });
  expect(paused.paused_reason).toBe('the owner needs the permission admin.settings');
  expect(paused.pending).toBeGreaterThan(0);
  expect(receiver.received).toEqual([]);
});
