import { randomUUID } from 'node:crypto';
import { startWebhookReceiver } from '../emulators/webhook-receiver.ts';
import type { Child } from '../support/child.ts';
import { closeAfterAll, openApp } from '../support/harness.ts';
import { startWorkerProcess, survivingWorker } from '../support/jobs.ts';
import { until } from '../support/until.ts';

const CHANGES = 20;
const KILLS = 2;

const goOn = survivingWorker(() => t.services);

process.env.OUTBOUND_ALLOW = '127.0.0.1:*';
const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const receiver = closeAfterAll(await startWebhookReceiver());

afterAll(() => delete process.env.OUTBOUND_ALLOW);

it('delivers every change at least once, and those of a card in order, however often its worker is killed', async () => {
  const { body } = await admin.post('/api/v1/webhooks', { name: 'Killed', url: receiver.url });
  const ids: string[] = [];
  for (let n = 0; n < 3; n += 1)
    ids.push((await admin.post('/api/v1/cards', { type: 'Application', name: randomUUID() })).body.id);
  // one in four fails the first time
  const tried = new Set<string>();
  let undisturbed = false;
  let patient: string | null = null;
  receiver.behave = ({ body: { id } }, count) => {
    if (tried.has(id) || count % 4 !== 0) return 204;
    tried.add(id);
    if (undisturbed) patient ??= id;
    return 503;
  };
  let worker: Child | undefined;
  try {
    for (let round = 0; round < KILLS; round += 1) {
      worker = await startWorkerProcess(t.services);
      const before = receiver.received.length;
      for (let n = 0; n < CHANGES; n += 1)
        await admin.patch(`/api/v1/cards/${ids[n % 3]}`, { alias: `change ${round}-${n}` });
      await until('some deliveries', async () => receiver.received.length > before + 3);
      worker.kill('SIGKILL');
      await worker.ended();
      // what it had under way would be sent again after its lease; nobody waits for that here
      await db('webhook_deliveries')
        .where({ status: 'pending' })
        .update({ leased_until: null, next_attempt_at: new Date(0) });
    }
    undisturbed = true;
    await goOn();
    await until(
      'everything to be delivered',
      async () => {
        // one that was refused is tried again by itself, after some seconds; that is waited for once
        await db('webhook_deliveries')
          .where({ status: 'pending', leased_until: null })
          .whereRaw('id is distinct from ?', [patient])
          .update({ next_attempt_at: new Date(0) });
        const { body: state } = await admin.get(`/api/v1/webhooks/${body.webhook.id}`);
        const newest = (await admin.get('/api/v1/changes?after=now')).body.next;
        return state.pending === 0 && Number(state.position) >= Number(newest) ? true : undefined;
      },
      60_000,
    );
  } finally {
    worker?.kill('SIGKILL');
    await worker?.ended();
  }
  const changes = await admin.get(`/api/v1/changes?after=${body.webhook.position}&limit=10000`);
  const expected = changes.body.items.map(({ position }: { position: string }) => position);
  const accepted = receiver.received.map(({ body: { position } }) => position);
  expect([...new Set(accepted)].sort((a, b) => a - b)).toEqual(expected);
  for (const id of ids) {
    const first = [
      ...new Set(
        receiver.received.filter((each) => each.body.card_id === id).map((each) => each.body.position),
      ),
    ];
    expect(first).toEqual([...first].sort((a, b) => Number(a) - Number(b)));
  }
}, 180_000);
