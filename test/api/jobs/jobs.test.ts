import { createSessionReader } from '../../../domain/access/access.sessions.ts';
import { builtInSchedules } from '../../../domain/app/schedules.data.ts';
import { exportJob } from '../../../domain/exchange/exports/export.job.ts';
import { kpiSnapshotJob } from '../../../domain/inventory/reports/report.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { ensureSchedule } from '../../../domain/kernel/jobs/schedules.fire.ts';
import { exportRequest } from '../../support/exports.ts';
import { answered, expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';
import { ask, jobRow } from '../../support/jobs.ts';
import refusals from './schedules.refusals.json' with { type: 'json' };

const { t, db, admin, member } = await openApp(['admin', 'member']);
await db('roles').insert({
  key: 'auditor',
  label: 'Auditor',
  permissions: JSON.stringify({ 'admin.events': true }),
});

/** A context in which the client's user acts. */
async function as(client: TestClient): Promise<Ctx> {
  const { caller } = await createSessionReader(db).read({
    sub: client.userId,
    jti: '00000000-0000-7000-8000-000000000001',
    tv: (await db('users').where({ id: client.userId }).first()).token_version,
    iat: 0,
    exp: 4_000_000_000,
  });
  return await t.ctx(caller);
}

const askExport = async (client: TestClient) => await ask(await as(client), exportJob, exportRequest());
const lastEvent = async (type: string) =>
  await db('events').where({ event_type: type }).orderBy('position', 'desc').first();

const unknown = '00000000-0000-7000-8000-00000000ffff';
describe('reading jobs', () => {
  it('shows owners theirs and administrators all', async () => {
    const [member, viewer, admin, auditor] = await Promise.all(
      ['member', 'viewer', 'admin', 'auditor'].map((role) => t.as(role)),
    );
    const id = await askExport(member!);
    expect(await ok(member!.get(`/api/v1/jobs/${id}`))).toMatchObject({
      id,
      kind: 'export',
      status: 'queued',
      progress: 0,
      message: null,
      counts: {},
      owner_id: member!.userId,
      started_at: null,
      finished_at: null,
      result: null,
      error: null,
      attempt: 1,
      links: { self: `/api/v1/jobs/${id}`, result: null },
    });
    await expectProblem(viewer!.get(`/api/v1/jobs/${id}`), 404);
    expect((await viewer!.get('/api/v1/jobs')).body.items).toEqual([]);
    for (const client of [admin!, auditor!]) {
      await ok(client.get(`/api/v1/jobs/${id}`));
      expect(pluck((await client.get('/api/v1/jobs')).body.items, 'id')).toContain(id);
    }
  });

  it('lists by kind and status, newest first, with cursor and fields', async () => {
    const client = await t.as('member', 'lister');
    const exported = await askExport(client);
    const snapshot = await ask(await as(client), kpiSnapshotJob, {});
    const list = async (query: string) => await client.get(`/api/v1/jobs?${query}`);
    const ids = async (query: string) => pluck((await list(query)).body.items, 'id');
    expect(await ids('')).toEqual([snapshot, exported]);
    expect(await ids('kind=export')).toEqual([exported]);
    expect(await ids('kind=export,kpi_snapshot&sort_dir=asc')).toEqual([exported, snapshot]);
    expect(await ids('status=running,failed')).toEqual([]);
    const first = await list('cursor=&page_size=1&fields=id,status');
    expect(first.body.items).toEqual([{ id: snapshot, status: 'queued' }]);
    expect((await list(`cursor=${first.body.next_cursor}&page_size=1&fields=id,status`)).body.items).toEqual([
      { id: exported, status: 'queued' },
    ]);
    expect((await list('kind=bogus')).body.errors).toEqual([
      expect.objectContaining({ field: 'kind', code: 'unknown_option' }),
    ]);
    await db('jobs').where({ id: exported }).update({ status: 'cancelled' });
    expect(await ids('sort_by=status')).toEqual([snapshot, exported]);
    await expectProblem(list('status=done'), 422);
    await expectProblem(list('sort_by=payload'), 422);
  });

  it('answers 422 for a malformed id and 404 for an unknown one', async () => {
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/result'],
      ['POST', '/cancel'],
      ['POST', '/retry'],
    ] as const) {
      await expectProblem(admin.request({ method, url: `/api/v1/jobs/nonsense${path}` }), 422);
      await expectProblem(admin.request({ method, url: `/api/v1/jobs/${unknown}${path}` }), 404);
    }
  });
});

describe('cancelling and running again', () => {
  it('cancels a waiting job at once, and runs it again', async () => {
    const id = await askExport(member);
    const cancelled = await answered(member.post(`/api/v1/jobs/${id}/cancel`));
    expect(cancelled.body).toMatchObject({ status: 'cancelled', finished_at: expect.any(String) });
    expect(cancelled.headers['x-position']).toBeDefined();
    expect(await lastEvent('job.cancelled')).toMatchObject({
      user_id: member.userId,
      scope: 'audit',
      data: { job_id: id, kind: 'export', was: 'queued' },
    });
    await expectProblem(member.post(`/api/v1/jobs/${id}/cancel`), 409, 'job_not_cancellable', {
      job_status: 'cancelled',
    });

    const retried = await ok(member.post(`/api/v1/jobs/${id}/retry`));
    expect(retried).toMatchObject({ status: 'queued', attempt: 2, finished_at: null, progress: 0 });
    expect(await lastEvent('job.retried')).toMatchObject({
      data: { job_id: id, was: 'cancelled', attempt: 2 },
    });
    await expectProblem(member.post(`/api/v1/jobs/${id}/retry`), 409, 'job_not_retryable', {
      job_status: 'queued',
    });
  });

  it('lets a worker know of the cancellation of a running job, and takes it once', async () => {
    const id = await askExport(member);
    await db('jobs').where({ id }).update({ status: 'running', lease_owner: 'x' });
    for (let n = 0; n < 2; n += 1) {
      const answer = await member.post(`/api/v1/jobs/${id}/cancel`);
      expect(answer).toMatchObject({ status: 200, body: { status: 'running' } });
    }
    expect(await db('jobs').where({ id }).first()).toMatchObject({ cancel_requested: true });
    const events = await db('events').where({ event_type: 'job.cancelled' });
    expect(events.filter((event) => event.data.job_id === id)).toHaveLength(1);
  });

  it("refuses others' jobs and leaves them as they are", async () => {
    const id = await askExport(member);
    const before = await jobRow(t.services, id);
    const [stranger, auditor] = await t.clients('bpm_admin', 'auditor');
    for (const action of ['cancel', 'retry']) {
      await expectProblem(stranger.post(`/api/v1/jobs/${id}/${action}`), 404);
      await expectProblem(auditor.post(`/api/v1/jobs/${id}/${action}`), 403, 'admin.settings');
    }
    expect(await jobRow(t.services, id)).toEqual(before);
    // it would run with the rights of its owner
    const keeper = await t.holding('admin.events', 'admin.settings');
    await expectProblem(keeper.post(`/api/v1/jobs/${id}/retry`), 403, 'inventory.view');
    await ok((await t.as('admin')).post(`/api/v1/jobs/${id}/cancel`));
  });
});

for (const schedule of builtInSchedules) await ensureSchedule(db, schedule);
const url = '/api/v1/job-schedules';
const keys = builtInSchedules.map(({ key }) => key).sort();
it('lists and reads the schedules', async () => {
  expect(pluck((await admin.get(url)).body.items, 'key')).toEqual(keys);
  const one = await admin.get(`${url}/kpi_snapshot`);
  expect(one.body).toMatchObject({ kind: 'kpi_snapshot', time_zone: 'UTC', enabled: true, last_slot: null });
  expect((await admin.get(`${url}?fields=key&cursor=`)).body.items).toEqual(keys.map((key) => ({ key })));
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
  expect(await db('events').where({ event_type: 'schedule.changed' }).first()).toMatchObject({
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
  for (const answer of [
    await member.get(url),
    await member.get(`${url}/kpi_snapshot`),
    await member.patch(`${url}/kpi_snapshot`, { enabled: false }),
  ])
    expect(answer).toMatchObject({ status: 403, body: { permission: 'admin.settings' } });
});
