// @redis
import { fireIfDue, SCHEDULES_CHANNEL } from '../../domain/kernel/jobs/schedules.fire.ts';
import { type Scheduler, startScheduler } from '../../workers/scheduler.ts';
import { createTestServices, type TestServices } from '../support/harness.ts';
import { until } from '../support/until.ts';

let t: TestServices;
let schedulers: Scheduler[] = [];
beforeEach(async () => {
  t = await createTestServices();
});
afterEach(async () => {
  for (const scheduler of schedulers) await scheduler.stop();
  schedulers = [];
  await t.close();
});

const start = (count: number) => {
  for (let n = 0; n < count; n += 1) schedulers.push(startScheduler(t.services));
};
const daysAgo = (days: number) => new Date(Date.now() - days * 86_400_000);
const add = async (more: Record<string, unknown>) =>
  await t.services
    .db('job_schedules')
    .insert({ key: 'test', kind: 'test', queue: 'routine', updated_at: daysAgo(3), ...more });
const slots = async (): Promise<Date[]> =>
  await t.services.db('jobs').where({ schedule_key: 'test' }).orderBy('slot').pluck('slot');

it('fires a slot once, however many schedulers there are, and slot after slot', async () => {
  // seconds, which only the database may hold, so that the test need not wait for minutes
  await add({ cron: '* * * * * *', updated_at: new Date() });
  start(3);
  const fired = await until('some slots', async () => {
    const found = await slots();
    return found.length >= 4 && found;
  });
  for (let n = 1; n < fired.length; n += 1)
    expect(fired[n]!.getTime()).toBeGreaterThan(fired[n - 1]!.getTime());
  for (const slot of fired) expect(slot.getMilliseconds()).toBe(0);
  const job = await t.services.db('jobs').where({ schedule_key: 'test' }).first();
  expect(job).toMatchObject({ kind: 'test', queue: 'routine', owner_id: null, status: 'queued' });
});

it('makes up for missed slots once', async () => {
  await add({ cron: '0 * * * *' });
  start(2);
  const fired = await until('the slot', async () => {
    const found = await slots();
    return found.length > 0 && found;
  });
  expect(fired).toHaveLength(1);
  expect(Date.now() - fired[0]!.getTime()).toBeLessThan(3_700_000);
  await Promise.all(Array.from({ length: 20 }, () => fireIfDue(t.services.db, 'test', new Date())));
  expect((await slots()).length).toBeLessThanOrEqual(2);
});

it('fires one of many calls for the same slot', async () => {
  await add({ cron: '0 0 1 1 *', updated_at: new Date('2025-06-01T00:00:00Z') });
  const now = new Date('2026-02-01T00:00:00Z');
  const answers = await Promise.all(Array.from({ length: 20 }, () => fireIfDue(t.services.db, 'test', now)));
  expect(answers.filter(Boolean)).toEqual([new Date('2026-01-01T00:00:00Z')]);
  expect(await slots()).toEqual([new Date('2026-01-01T00:00:00Z')]);
});

it('leaves alone what is switched off, and notices when it is switched on, without making up for the past', async () => {
  await add({ cron: '* * * * * *', enabled: false });
  start(1);
  expect(await fireIfDue(t.services.db, 'test', new Date())).toBeUndefined();
  const changed = new Date();
  await t.services.db('job_schedules').update({ enabled: true, updated_at: changed });
  await t.services.db.raw(`select pg_notify('${SCHEDULES_CHANNEL}', '')`);
  const fired = await until('a slot', async () => {
    const found = await slots();
    return found.length > 0 && found;
  });
  expect(fired[0]!.getTime()).toBeGreaterThan(changed.getTime());
});
