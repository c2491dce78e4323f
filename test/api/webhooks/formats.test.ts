import { createHmac } from 'node:crypto';
import { standardSignature } from '../../../integrations/collaboration/webhooks/messages.ts';
import { startWebhooks } from '../../../workers/collaboration/webhooks.ts';
import { startWebhookReceiver } from '../../emulators/webhook-receiver.ts';
import { closeAfterAll, expectInvalid, ok, openApp } from '../../support/harness.ts';
import { until } from '../../support/until.ts';

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const receiver = closeAfterAll(await startWebhookReceiver());
const sender = startWebhooks(t.services);

afterAll(() => sender.stop());
afterEach(async () => {
  receiver.received.length = 0;
  await db('webhooks').delete();
});

async function subscribe(format: string) {
  const body = { name: 'Test', url: receiver.url, event_types: ['card.created'], format };
  const { webhook, secret } = await admin.create('/api/v1/webhooks', body);
  return { id: webhook.id as string, secret: secret as string, format: webhook.format as string };
}

const first = () => until('a delivery', async () => receiver.received[0]);

/** The check of the libraries of Standard Webhooks. */
function isGenuine(secret: string, headers: Record<string, unknown>, text: string): boolean {
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]+={0,2}$/);
  const key = Buffer.from(secret.slice('whsec_'.length), 'base64');
  const { 'webhook-id': id, 'webhook-timestamp': seconds, 'webhook-signature': given } = headers;
  if (Math.abs(Date.now() / 1000 - Number(seconds)) > 300) return false;
  const expected = createHmac('sha256', key).update(`${id}.${seconds}.${text}`).digest('base64');
  return String(given).split(' ').includes(`v1,${expected}`);
}

it('signs as the example in the documentation of Standard Webhooks', () => {
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const body = '{"test": 2432232314}';
  const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=';
  const signed = standardSignature([secret, secret], 'msg_p5jXN8AQM9LWM0D4loKWxJek', body, 1_614_265_330);
  expect(signed).toBe(`${signature} ${signature}`);
});

it('sends deliveries as Standard Webhooks', async () => {
  const { id, secret, format } = await subscribe('standard');
  expect(format).toBe('standard');
  const card = await admin.card();
  const { headers, text, body } = await first();
  expect(Object.keys(body)).toEqual(['type', 'timestamp', 'data']);
  expect(body).toMatchObject({ type: 'card.created', timestamp: body.data.at, data: { card_id: card.id } });
  expect(headers['content-type']).toBe('application/json');
  expect(Object.keys(headers).filter((name) => name.startsWith('estate-'))).toEqual([]);
  expect(isGenuine(secret, headers, text)).toBe(true);
  expect(isGenuine(secret, headers, `${text} `)).toBe(false);

  // for a day both secrets are valid
  const rotated = await ok(admin.post(`/api/v1/webhooks/${id}/rotate-secret`), 200);
  receiver.received.length = 0;
  await ok(admin.post(`/api/v1/webhooks/${id}/ping`), 202);
  const ping = await first();
  expect(ping.body).toMatchObject({ type: 'webhook.ping', data: { event_type: 'webhook.ping' } });
  for (const valid of [secret, rotated.secret]) expect(isGenuine(valid, ping.headers, ping.text)).toBe(true);
});

it('sends deliveries as CloudEvents, below the address of the application', async () => {
  await ok(admin.patch('/api/v1/settings/email', { app_base_url: 'https://estate.example.com/' }), 200);
  const { id, secret } = await subscribe('cloudevents');
  const card = await admin.card();
  const { headers, text, body } = await first();
  expect(body).toEqual({
    specversion: '1.0',
    id: headers['webhook-id'],
    source: `https://estate.example.com/api/v1/webhooks/${id}`,
    type: 'estate.card.created',
    subject: card.id,
    time: body.data.at,
    datacontenttype: 'application/json',
    data: expect.objectContaining({ card_id: card.id, event_type: 'card.created' }),
  });
  expect(headers['content-type']).toBe('application/cloudevents+json; charset=utf-8');
  expect(isGenuine(secret, headers, text)).toBe(true);
});

it('changes the format of later deliveries, and refuses others', async () => {
  const { id } = await subscribe('estate');
  const changed = await ok(admin.patch(`/api/v1/webhooks/${id}`, { format: 'cloudevents' }), 200);
  expect(changed.format).toBe('cloudevents');
  const [event] = await db('events').where({ event_type: 'webhook.updated' }).orderBy('position', 'desc');
  expect(event.data.changes).toEqual({ format: { old: 'estate', new: 'cloudevents' } });
  await expectInvalid(admin.patch(`/api/v1/webhooks/${id}`, { format: 'slack' }), 'format');
});
