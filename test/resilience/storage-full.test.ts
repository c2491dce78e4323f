import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { expectProblem, openApp } from '../support/harness.ts';
import { survivingWorker, untilStatus } from '../support/jobs.ts';
import { until } from '../support/until.ts';

const { t, db, admin } = await openApp(['admin']);

/** Has files written to a device that is always full: the kernel itself refuses them. */
function fillDisk(): void {
  const open = fs.createWriteStream;
  vi.spyOn(fs, 'createWriteStream').mockImplementation((_file, options) => open('/dev/full', options));
  syncBuiltinESMExports();
}
function makeRoom(): void {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
}
afterEach(makeRoom);

const startWorker = survivingWorker(() => t.services);

const upload = () =>
  admin.request({
    method: 'POST',
    url: '/api/v1/imports?kind=cards',
    headers: { 'content-type': 'text/csv' },
    payload: 'type,name\nApplication,From a file\n',
  });
const ready = async () => {
  const { status, body } = await admin.get('/api/health/ready');
  return { status, files: body.checks.files };
};

it('refuses an upload with 507, and readiness names the files', async () => {
  fillDisk();
  const refused = await upload();
  expect([refused.status, refused.body.code, refused.headers['retry-after']]).toEqual([
    507,
    'storage_full',
    '60',
  ]);
  await until('readiness to fail', async () => (await ready()).status === 503);
  expect(await ready()).toEqual({ status: 503, files: 'refuses writes: storage_full, no space is left' });
  expect((await admin.get('/api/health')).status).toBe(200);
  expect((await admin.get('/api/v1/cards')).status).toBe(200);

  makeRoom();
  await until('readiness to pass', async () => (await ready()).status === 200);
  expect((await upload()).status).toBe(202);
});

it('lets a job wait for room, and go on by itself', async () => {
  await startWorker();
  fillDisk();
  const id = (await admin.post('/api/v1/exports', { format: 'csv', kind: 'cards' })).body.job_id;
  const row = () => db('jobs').where({ id }).first();
  const waiting = await until('the job to wait', async () => {
    const job = await row();
    return job.status === 'queued' && job.attempt > 1 && job;
  });
  expect(waiting).toMatchObject({ failures: 0, crashes: 0, error: null });
  expect(waiting.run_after.getTime()).toBeGreaterThan(Date.now());

  makeRoom();
  await untilStatus(t.services, id, 'succeeded');
  expect((await admin.get(`/api/v1/jobs/${id}/result`)).status).toBe(200);
});

it('answers 507 where the database has no space left', async () => {
  await db.raw(`
    create function no_space() returns trigger language plpgsql as $$
    begin raise exception 'could not extend file' using errcode = '53100'; end $$;
    create trigger no_space before insert on tag_groups execute function no_space()`);
  await expectProblem(admin.post('/api/v1/tag-groups', { name: 'Anything' }), 507, 'storage_full');
});
