import { expect, it } from 'vitest';
import { builtInSchedules } from '../../../domain/app/schedules.data.ts';
import { ensureSchedule } from '../../../domain/kernel/jobs/schedules.fire.ts';
import { expectProblem, ok, openApp, pluck } from '../../support/harness.ts';
import refusals from './schedules.refusals.json' with { type: 'json' };

const { t, db, admin } = await openApp(['admin']);
for (const schedule of builtInSchedules) await ensureSchedule(db, schedule);

const url = '/api/v1/job-schedules';
const keys = builtInSchedules.map(({ key }) => key).sort();

it('lists and reads the schedules', async () => {
  const list = await admin.get(url);
  expect(pluck(list.body.items, 'key')).toEqual(keys);
  const one = await admin.get(`${url}/kpi_snapshot`);
  expect(one.body).toMatchObject({ kind: 'kpi_snapshot', time_zone: 'UTC', enabled: true, last_slot: null });
  expect((await admin.get(`${url}?fields=key&cursor=`)).body.items).toEqual(keys.map((key) => ({ key })));
  await expectProblem(admin.get(`${url}/nothing`), 404);
});

it('changes when a schedule fires, with an event of old and new', async () => {
  const before = await admin.get(`${url}/kpi_snapshot`);
  const answer = await ok(
    admin.patch(
      `${url}/kpi_snapshot`,
      { cron: ' 30  1 * * MON-FRI ', time_zone: 'Europe/Berlin' },
      { 'if-match': before.headers.etag! },
    ),
  );
  expect(answer).toMatchObject({ cron: '30 1 * * MON-FRI', time_zone: 'Europe/Berlin', enabled: true });
  const event = await db('events').where({ event_type: 'schedule.changed' }).first();
  expect(event).toMatchObject({
    user_id: admin.userId,
    data: {
      key: 'kpi_snapshot',
      changes: {
        cron: { old: before.body.cron, new: '30 1 * * MON-FRI' },
        time_zone: { old: 'UTC', new: 'Europe/Berlin' },
      },
    },
  });
  await expectProblem(
    admin.patch(`${url}/kpi_snapshot`, { enabled: false }, { 'if-match': before.headers.etag! }),
    412,
  );
  const same = await admin.patch(`${url}/kpi_snapshot`, { enabled: true });
  expect(same.body).toEqual(answer);
  expect(same.headers['x-position']).toBeUndefined();
});

it('keeps what users have set when the product starts again', async () => {
  await admin.patch(`${url}/housekeeping`, { enabled: false });
  for (const schedule of builtInSchedules) await ensureSchedule(db, schedule);
  expect((await admin.get(`${url}/housekeeping`)).body.enabled).toBe(false);
});

it.each(refusals as [object, string, string][])(
  'refuses %j, naming the field',
  async (patch, field, code) => {
    const before = await db('job_schedules').orderBy('key');
    const answer = await admin.patch(`${url}/kpi_snapshot`, patch);
    expect(answer.status).toBe(422);
    expect(answer.body.errors[0]).toMatchObject({ field, code });
    expect(await db('job_schedules').orderBy('key')).toEqual(before);
  },
);

it.each([
  ['61 * * * *', '"61" is not valid as minute, which takes 0 to 59'],
  ['0 24 * * *', '"24" is not valid as hour, which takes 0 to 23'],
])('says what the field of %s takes', async (cron, message) => {
  const { body } = await admin.patch(`${url}/kpi_snapshot`, { cron });
  expect(body.errors).toEqual([{ field: 'cron', code: 'bad_cron', message }]);
});

it('refuses unknown members, unknown schedules and those without the permission', async () => {
  await expectProblem(admin.patch(`${url}/kpi_snapshot`, { kind: 'export' }), 422);
  await expectProblem(admin.patch(`${url}/nothing`, { enabled: false }), 404);
  const member = await t.as('member');
  for (const answer of [
    await member.get(url),
    await member.get(`${url}/kpi_snapshot`),
    await member.patch(`${url}/kpi_snapshot`, { enabled: false }),
  ]) {
    expect(answer).toMatchObject({ status: 403, body: { permission: 'admin.settings' } });
  }
});
