import { describe, expect, it } from 'vitest';
import { createSessionReader } from '../../../domain/access/access.sessions.ts';
import { exportJob } from '../../../domain/exchange/exports/export.job.ts';
import { kpiSnapshotJob } from '../../../domain/inventory/reports/report.job.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import { expectProblem, ok, openApp, pluck, type TestClient } from '../../support/harness.ts';
import { ask, jobRow } from '../../support/jobs.ts';

const { t, db } = await openApp();
await db('roles').insert({
  key: 'auditor',
  label: 'Auditor',
  permissions: JSON.stringify({ 'admin.events': true }),
});

/** A context in which the client's user acts. */
async function as(client: TestClient): Promise<Ctx> {
  const user = await db('users').where({ id: client.userId }).first();
  const { caller } = await createSessionReader(db).read({
    sub: client.userId,
    jti: '00000000-0000-7000-8000-000000000001',
    tv: user.token_version,
    iat: 0,
    exp: 4_000_000_000,
  });
  return await t.ctx(caller);
}

const request = {
  format: 'csv',
  kind: 'cards',
  types: [],
  filter: '',
  columns: [],
  include: [],
  profile: 'report',
  neutralise: true,
} as const;
const askExport = async (client: TestClient) =>
  await ask(await as(client), exportJob, { ...request, types: [], columns: [], include: [] });
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
    await expectProblem(t.anonymous.get(`/api/v1/jobs/${id}`), 401);
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
    await expectProblem(list('status=done'), 422);
    await expectProblem(list('sort_by=payload'), 422);
  });

  it('answers 422 for a malformed id and 404 for an unknown one', async () => {
    const admin = await t.as('admin');
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
    const member = await t.as('member');
    const id = await askExport(member);
    const cancelled = await member.post(`/api/v1/jobs/${id}/cancel`);
    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({ status: 'cancelled', finished_at: expect.any(String) });
    expect(cancelled.headers['x-position']).toBeDefined();
    expect(await lastEvent('job.cancelled')).toMatchObject({
      user_id: member.userId,
      scope: 'audit',
      data: { job_id: id, kind: 'export', was: 'queued' },
    });
    const again = await member.post(`/api/v1/jobs/${id}/cancel`);
    expect(again).toMatchObject({
      status: 409,
      body: { code: 'job_not_cancellable', job_status: 'cancelled' },
    });

    const retried = await ok(member.post(`/api/v1/jobs/${id}/retry`));
    expect(retried).toMatchObject({ status: 'queued', attempt: 2, finished_at: null, progress: 0 });
    expect(await lastEvent('job.retried')).toMatchObject({
      data: { job_id: id, was: 'cancelled', attempt: 2 },
    });
    expect(await member.post(`/api/v1/jobs/${id}/retry`)).toMatchObject({
      status: 409,
      body: { code: 'job_not_retryable', job_status: 'queued' },
    });
  });

  it('lets a worker know of the cancellation of a running job, and takes it once', async () => {
    const member = await t.as('member');
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
    const member = await t.as('member');
    const id = await askExport(member);
    const before = await jobRow(t.services, id);
    const [stranger, auditor] = await t.clients('bpm_admin', 'auditor');
    for (const action of ['cancel', 'retry']) {
      await expectProblem(stranger.post(`/api/v1/jobs/${id}/${action}`), 404);
      expect(await auditor.post(`/api/v1/jobs/${id}/${action}`)).toMatchObject({
        status: 403,
        body: { code: 'forbidden', permission: 'admin.settings' },
      });
    }
    expect(await jobRow(t.services, id)).toEqual(before);
    // it would run with the rights of its owner
    const keeper = await t.holding('admin.events', 'admin.settings');
    expect(await keeper.post(`/api/v1/jobs/${id}/retry`)).toMatchObject({
      status: 403,
      body: { code: 'forbidden', permission: 'inventory.view' },
    });
    await ok((await t.as('admin')).post(`/api/v1/jobs/${id}/cancel`));
  });
});
