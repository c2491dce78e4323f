import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkers, type Workers } from '../../../workers/runtime.ts';
import { furnish } from '../../emulators/servicenow/landscape.ts';
import type { ServiceNowEmulator } from '../../emulators/servicenow/server.ts';
import { createTestApp, type TestApp, type TestClient } from '../../support/harness.ts';
import { connectTo, runMapping, startInstance, storeMapping, syncBase } from '../../support/itsm.ts';

let t: TestApp;
let admin: TestClient;
let instance: ServiceNowEmulator;
let workers: Workers;

beforeAll(async () => {
  t = await createTestApp({ OUTBOUND_ALLOW: '127.0.0.1' });
  admin = await t.as('admin');
  workers = await startWorkers(t.services);
  instance = await startInstance();
});
afterAll(async () => {
  await workers.close(5_000);
  await instance.close();
  await t.close();
});

describe('a first pull', () => {
  it('plans a card for each record, and waits where nobody said otherwise', async () => {
    furnish(instance, { items: { cmdb_ci_business_app: 30 }, relations: 0 });
    const mapping = await storeMapping(t, {
      connectionId: await connectTo(admin, instance),
      more: { auto_apply: false },
    });
    const run = await runMapping(t, admin, mapping);
    expect(run).toMatchObject({ status: 'review', stage: 'review', complete: true });
    expect(run.stats).toMatchObject({ fetched: 30, planned: { create: 30 } });
    const staged = await admin.get(`${syncBase}/sync/runs/${run.id}/staged?action=create&page_size=200`);
    expect(staged.body.total).toBe(30);
    expect(staged.body.items[0]).toMatchObject({ no: 0, side: 'local', status: 'pending' });
    const log = await admin.get(`${syncBase}/sync/runs/${run.id}/log`);
    expect(log.body.items.map(({ message }: { message: string }) => message)).toEqual([
      'Read everything: 30 records, 0 relations.',
      'The plan has 30 changes, and waits for review: nothing is applied without a look.',
    ]);
  });
});
