// @redis
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startWorkers, type Workers } from '../../../workers/runtime.ts';
import { createTestApp, type TestApp } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';

let t: TestApp;
let workers: Workers;
beforeAll(async () => {
  t = await createTestApp();
  workers = await startWorkers(t.services);
  const member = await t.as('member');
  for (let n = 0; n < 3; n += 1) {
    const made = await member.post('/api/v1/cards', {
      type: 'Application',
      name: `App ${n}`,
      attributes: { costTotalAnnual: 4242 + n },
    });
    expect(made.status).toBe(201);
  }
});
afterAll(async () => {
  await workers.close(5_000);
  await t.close();
});

describe('POST /exports', () => {
  it('starts a job whose file is downloaded whole or in part, with its checksum, by those who may', async () => {
    const member = await t.as('member');
    const started = await member.post('/api/v1/exports', { format: 'csv', types: ['Application'] });
    expect([started.status, started.headers.location]).toEqual([202, `/api/v1/jobs/${started.body.job_id}`]);
    await untilStatus(t.services, started.body.job_id, 'succeeded');
    const job = await member.get(started.headers.location!);
    expect(job.body).toMatchObject({ status: 'succeeded', progress: 1, counts: { rows: 3, total: 3 } });
    const url = `${started.headers.location}/result`;
    const file = await member.get(url);
    expect(file.status).toBe(200);
    expect(file.headers['content-disposition']).toMatch(
      /^attachment; filename="?estate-cards-\d{4}-\d\d-\d\d\.csv"?$/,
    );
    expect(parse(file.raw, { columns: true })).toHaveLength(3);
    const part = await member.get(url, { range: 'bytes=0-9' });
    expect([part.status, part.text]).toEqual([206, file.text.slice(0, 10)]);
    const viewer = await t.as('viewer');
    expect((await viewer.get(url)).status).toBe(404);
    expect((await (await t.as('admin')).get(url)).status).toBe(200);
    const events = await t.services
      .db('events')
      .whereIn('event_type', ['export.started', 'file.downloaded'])
      .pluck('event_type');
    expect(events).toContain('export.started');
    expect(events).toContain('file.downloaded');
  });

  it('is the same job for the same idempotency key', async () => {
    const member = await t.as('member');
    const key = { 'idempotency-key': 'nightly-1' };
    const one = await member.post('/api/v1/exports', { format: 'csv' }, key);
    const two = await member.post('/api/v1/exports', { format: 'csv' }, key);
    expect(two.body.job_id).toBe(one.body.job_id);
  });

  it('refuses unknown fields, formats and callers without the right', async () => {
    const member = await t.as('member');
    const bad = await member.post('/api/v1/exports', { format: 'pdf', colums: [] });
    expect(bad.status).toBe(422);
    expect(bad.body.errors.map((fault: { field: string }) => fault.field)).toContain('colums');
    await t.services
      .db('roles')
      .insert({ key: 'reader', label: 'Reader', permissions: { 'inventory.view': true } });
    const reader = await t.as('reader');
    expect((await reader.post('/api/v1/exports', { format: 'csv' })).body.permission).toBe(
      'inventory.export',
    );
  });
});

describe('GET /cards/export/csv', () => {
  it('streams the same rows as the job, costs cut for those without the right', async () => {
    const member = await t.as('member');
    const stream = await member.get('/api/v1/cards/export/csv?type=Application');
    expect(stream.status).toBe(200);
    expect(Number(stream.headers['x-position'])).toBeGreaterThan(0);
    const rows: Record<string, string>[] = parse(stream.raw, { columns: true });
    expect(rows.map((row) => row['attributes.costTotalAnnual'])).toEqual(['4242', '4243', '4244']);
    const viewer = await t.as('viewer');
    const cut = await viewer.get('/api/v1/cards/export/csv');
    expect(cut.text).not.toContain('424');
    expect((await viewer.get('/api/v1/cards/export/csv?type=Nothing')).status).toBe(422);
  });
});
