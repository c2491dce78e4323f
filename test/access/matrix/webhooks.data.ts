import { randomUUID } from 'node:crypto';
import { type Row, row } from '../matrix.row.ts';
import type { World } from '../world.ts';

// an address that nobody answers at, and that is never called while no worker runs
const url = 'https://hooks.example.com/estate';

const webhook = async (w: World) => {
  const answer = await (await w.t.as('admin', 'maker')).post('/api/v1/webhooks', { name: randomUUID(), url });
  return { id: answer.body.webhook.id as string };
};

/** Webhooks send the inventory away: they are for those who keep the settings. */
export const webhookRows: Row[] = [
  row('GET /webhooks', '+ - - - + - 0'),
  row('POST /webhooks', '+ - - - + - 0', () => ({ body: { name: randomUUID(), url } })),
  row('GET /webhooks/{id}', '+ - - - + - 0', async (w) => ({ path: await webhook(w) })),
  row('PATCH /webhooks/{id}', '+ - - - + - 0', async (w) => ({
    path: await webhook(w),
    body: { name: 'Renamed' },
  })),
  row('DELETE /webhooks/{id}', '+ - - - + - 0', async (w) => ({ path: await webhook(w) })),
  row('POST /webhooks/{id}/rotate-secret', '+ - - - + - 0', async (w) => ({ path: await webhook(w) })),
  row('POST /webhooks/{id}/ping', '+ - - - + - 0', async (w) => ({ path: await webhook(w) })),
  row('POST /webhooks/{id}/replay', '+ - - - + - 0', async (w) => ({
    path: await webhook(w),
    body: { after: '0' },
  })),
  row('GET /webhooks/{id}/deliveries', '+ - - - + - 0', async (w) => ({ path: await webhook(w) })),
  row('POST /webhooks/{id}/deliveries/{delivery_id}/replay', '+ - - - + - 0', async (w) => {
    const { id } = await webhook(w);
    const [delivery] = await w.t.services
      .db('webhook_deliveries')
      .insert({ webhook_id: id, event_type: 'webhook.ping', order_key: 'ping', status: 'dead' })
      .returning('id');
    return { path: { id, delivery_id: delivery.id } };
  }),
];
