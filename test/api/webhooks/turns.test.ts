import { randomUUID } from 'node:crypto';
import { claimDeliveries } from '../../../domain/collaboration/webhooks/deliveries.claim.ts';
import { openApp } from '../../support/harness.ts';

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });

afterEach(() => db('webhooks').delete());

/** A webhook with due deliveries, each about another object. */
async function webhookWith(deliveries: number, failures = 0): Promise<string> {
  const { webhook } = await admin.create('/api/v1/webhooks', { name: 'Test', url: 'http://127.0.0.1:9/' });
  await db('webhooks').where({ id: webhook.id }).update({ failures });
  const due = Array.from({ length: deliveries }, (_, at) => ({
    webhook_id: webhook.id,
    event_type: 'ping',
    order_key: randomUUID(),
    next_attempt_at: new Date(at),
  }));
  await db('webhook_deliveries').insert(due);
  return webhook.id;
}

/** The number of claimed deliveries by webhook. */
async function claimed(limit: number, failing: number): Promise<Record<string, number>> {
  const found = await claimDeliveries(t.services, limit, failing);
  return Object.fromEntries(
    [...Map.groupBy(found, (delivery) => delivery.webhook_id)].map(([id, list]) => [id, list.length]),
  );
}

test('webhooks take turns, and one has at most eight deliveries at once', async () => {
  const busy = await webhookWith(40);
  const quiet = await webhookWith(2);
  expect(await claimed(4, 4)).toEqual({ [busy]: 2, [quiet]: 2 });
  expect(await claimed(12, 4)).toEqual({ [busy]: 6 });
  expect(await claimed(12, 4)).toEqual({});
});

test('webhooks that fail have one delivery each, after those that work and within their number', async () => {
  const failing = [await webhookWith(10, 1), await webhookWith(10, 3), await webhookWith(10, 5)];
  const working = await webhookWith(3);
  expect(await claimed(3, 2)).toEqual({ [working]: 3 });
  const second = await claimed(12, 2);
  expect(Object.values(second)).toEqual([1, 1]);
  for (const id of Object.keys(second)) expect(failing).toContain(id);
  expect(Object.keys(await claimed(12, 4))).toHaveLength(1);
  expect(await claimed(12, 4)).toEqual({});
});

test('processes that claim at the same time claim different deliveries', async () => {
  await webhookWith(20);
  await webhookWith(20);
  const answers = await Promise.all(Array.from({ length: 4 }, () => claimDeliveries(t.services, 4, 4)));
  const ids = answers.flat().map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.length).toBeGreaterThan(0);
});
