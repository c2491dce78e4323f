// @redis
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { fireIfDue } from '../../../domain/kernel/jobs/schedules.fire.ts';
import { cleanExtractions } from '../../../workers/exchange/scheduled-extraction.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { startS3 } from '../../emulators/s3.ts';
import {
  closeAfterAll,
  eventKinds,
  expectInvalid,
  expectProblem,
  jsonLines,
  ok,
  openApp,
  pluck,
  type TestClient,
} from '../../support/harness.ts';
import { allowRecipients, startSmtp, useSmtp } from '../../support/smtp.ts';
import { until } from '../../support/until.ts';
import { attachmentOf, base, bucketOf, nightly as input, runNow as runOf } from './extractions.fixture.ts';

const { t, db, viewer } = await openApp(['viewer'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
closeAfterAll(await startWorkers(t.services));
const s3 = closeAfterAll(await startS3());
const smtp = closeAfterAll(await startSmtp());
await allowRecipients(t.services, 'estate.example');
const [member, admin] = await t.clients('member', 'admin');
for (let n = 0; n < 3; n += 1)
  await member.post('/api/v1/cards', {
    type: 'Application',
    name: `App ${n}`,
    attributes: { costTotalAnnual: 4242 + n },
  });

afterEach(async () => {
  s3.fault = () => undefined;
  s3.objects.clear();
  smtp.mails.length = 0;
  await db('extraction_schedules').delete();
  await db('job_schedules').delete();
});

const bucket = (more: object = {}) => bucketOf(s3, { prefix: 'estate/', ...more });
const make = async (more: object = {}, client = member): Promise<string> =>
  (await client.create(base, input(more))).id;
const runNow = (id: string, status = 'succeeded', client = member) => runOf(t, client, id, status);
const untilTold = ({ userId }: TestClient, title: string) =>
  until('the notification', () => db('notifications').where({ user_id: userId, title }).first());
const eventsOf = async (id: string) =>
  await db('events').whereRaw(`data ->> 'id' = ?`, [id]).orderBy('position');

describe('an extraction schedule', () => {
  it('is made, read, listed, changed and deleted, each with its event, and none of it tells the secret', async () => {
    const made = await member.post(base, input({ destination: bucket(), time_zone: 'Europe/Berlin' }));
    expect(made.status, made.text).toBe(201);
    const { id } = made.body;
    expect(made.body).toMatchObject({
      status: 'active',
      cron: '30 2 * * *',
      time_zone: 'Europe/Berlin',
      request: { format: 'csv', kind: 'cards', types: ['Application'], neutralise: true },
      destination: { kind: 's3', bucket: 'warehouse', secret_access_key: '********' },
      keep_runs: 30,
      keep_days: null,
      owner_id: member.userId,
    });
    const list = await member.get(`${base}?search=night&status=active`);
    expect(list.body.items).toHaveLength(1);
    expect((await (await t.as('viewer')).get(base)).body.items).toEqual([]);
    expect((await admin.get(base)).body.items).toHaveLength(1);
    // what was read is sent back as it is, and keeps the secret
    const changed = await member.patch(
      `${base}/${id}`,
      { cron: '0 6  * * 1-5', destination: made.body.destination },
      { 'if-match': made.headers.etag! },
    );
    expect([changed.status, changed.body.cron]).toEqual([200, '0 6 * * 1-5']);
    const same = await member.patch(`${base}/${id}`, {});
    expect([same.status, same.body]).toEqual([200, (await member.get(`${base}/${id}`)).body]);
    expect((await runNow(id)).status).toBe('succeeded');
    await ok(member.delete(`${base}/${id}`), 204);
    await expectProblem(member.get(`${base}/${id}`), 404);
    expect(await db('job_schedules').where({ key: `extraction:${id}` })).toEqual([]);
    const events = await eventsOf(id);
    expect(eventKinds(events, 'extraction_schedule')).toBe('created updated deleted');
    expect(events[1].data.changes).toEqual({ cron: { old: '30 2 * * *', new: '0 6 * * 1-5' } });
    for (const text of [made.text, list.text, changed.text, JSON.stringify(events)])
      expect(text).not.toContain(s3.credentials.secretAccessKey);
  });

  it.each([
    [{ cron: '61 * * * *' }, 'cron', 'bad_cron'],
    [{ time_zone: 'Mars/Base' }, 'time_zone', 'bad_time_zone'],
    [{ name: '  ' }, 'name', 'required'],
    [{ request: { format: 'csv', types: ['NoSuch'] } }, 'request.types.0', 'unknown_type'],
    [{ request: { format: 'csv', after: '1' } }, 'request.after', 'unknown_field'],
    [
      { request: { format: 'xlsx', include: ['hierarchy'] }, incremental: true },
      'request.include',
      'not_with_after',
    ],
    [{ destination: { kind: 'mail' } }, 'destination.recipients', 'required'],
    [{ destination: { kind: 'disk', prefix: 'a' } }, 'destination.prefix', 'unknown_field'],
    [{ destination: { kind: 'disk', path: '/etc' } }, 'destination.path', 'unknown_field'],
    [{ destination: { kind: 'mail', recipients: ['nobody'] } }, 'destination.recipients.0', 'format'],
    [
      { destination: { kind: 'mail', recipients: ['a@b.example'] } },
      'destination.recipients.0',
      'refused_address',
    ],
    [{ destination: { ...refusedBucket('https://10.0.0.1') } }, 'destination.endpoint', 'refused_address'],
    [{ destination: { ...refusedBucket('https://a.example/x') } }, 'destination.endpoint', 'refused_address'],
    [{ destination: { ...refusedBucket(null), prefix: 'a/../b' } }, 'destination.prefix', 'format'],
    [
      { destination: { ...refusedBucket(null), secret_access_key: '********' } },
      'destination.secret_access_key',
      'secret_needed',
    ],
  ])('is refused with %j', async (more, field, code) => {
    await expectInvalid(member.post(base, input(more)), `${field} ${code}`);
    expect(await db('extraction_schedules')).toEqual([]);
  });

  it('asks for the secret again when it would go elsewhere', async () => {
    const id = await make({ destination: bucket() });
    for (const more of [{ bucket: 'another' }, { access_key_id: 'AKIAOTHER' }, { endpoint: null }]) {
      const { secret_access_key: _, ...elsewhere } = bucket(more);
      const answer = await admin.patch(`${base}/${id}`, { destination: elsewhere });
      expect(answer.body.errors?.[0].code).toBe('secret_needed');
    }
    const { secret_access_key: _, ...same } = bucket({ prefix: 'other/' });
    const taken = await admin.patch(`${base}/${id}`, { destination: same });
    // who decides where it goes answers for it
    expect([taken.status, taken.body.owner_id]).toEqual([200, admin.userId]);
    await expectProblem(member.get(`${base}/${id}`), 404);
  });
});

function refusedBucket(endpoint: string | null) {
  return {
    kind: 's3',
    endpoint,
    bucket: 'warehouse',
    access_key_id: 'AKIATEST',
    secret_access_key: 'a secret of the test',
  };
}

describe('a run', () => {
  it('puts the file, its manifest and the latest of both into the folder, and serves them', async () => {
    const id = await make();
    const first = await runNow(id);
    const run = await runNow(id);
    expect(run).toMatchObject({ status: 'succeeded', trigger: 'manual', rows: 3, attempts: 1, error: null });
    const folder = path.join(t.services.config.dataDir, 'extractions', id);
    expect((await readdir(folder)).toSorted()).toEqual(
      [
        ...[first.file_name, run.file_name].flatMap((name) => [name, name.replace('.csv', '.manifest.json')]),
        'latest.csv',
        'latest.manifest.json',
      ].toSorted(),
    );
    const content = await readFile(path.join(folder, run.file_name));
    expect(createHash('sha256').update(content).digest('hex')).toBe(run.sha256);
    expect(parse(content, { columns: true })).toHaveLength(3);
    expect(await readFile(path.join(folder, 'latest.csv'))).toEqual(content);
    const manifest = JSON.parse(await readFile(path.join(folder, 'latest.manifest.json'), 'utf8'));
    expect(manifest).toMatchObject({
      run_id: run.id,
      position: run.position,
      after: null,
      tables: [{ name: 'Cards', rows: 3 }],
      file: { name: run.file_name, size: run.bytes, sha256: run.sha256 },
    });
    const file = await member.get(run.links.file);
    expect([file.status, file.raw.equals(content)]).toEqual([200, true]);
    const part = await member.get(run.links.file, { range: 'bytes=2-5' });
    expect([part.status, part.raw.equals(content.subarray(2, 6))]).toEqual([206, true]);
    expect((await member.get(run.links.manifest)).body).toEqual(manifest);
    await expectProblem(member.get(run.links.file, { range: 'bytes=99999999-' }), 416);
    expect(pluck((await member.get(`${base}/${id}/runs`)).body.items, 'id')).toEqual([run.id, first.id]);
    const [started, succeeded] = await eventsOf(run.id);
    expect([started.event_type, succeeded.event_type]).toEqual([
      'extraction_run.started',
      'extraction_run.succeeded',
    ]);
    expect(succeeded.data).toMatchObject({ schedule_id: id, rows: 3, position: run.position });
  });

  it('happens once for its slot, however many look, and cuts what the owner may not see', async () => {
    const id = await make({}, viewer);
    // long before the worker's own scheduler finds it due
    const now = new Date('2099-01-03T12:00:00Z');
    const fired = await Promise.all([1, 2, 3].map(() => fireIfDue(db, `extraction:${id}`, now)));
    expect(fired.filter(Boolean)).toHaveLength(1);
    const [run] = await until('the run to end', async () => {
      const { items } = (await viewer.get(`${base}/${id}/runs`)).body;
      return items[0]?.status === 'succeeded' ? items : undefined;
    });
    expect(run).toMatchObject({
      trigger: 'schedule',
      slot: '2099-01-03T02:30:00.000Z',
      file_name: 'cards-20990103T023000Z.csv',
    });
    expect((await viewer.get(run.links.file)).text).not.toMatch(/,424\d/);
    await expectProblem(member.get(run.links.file), 404);
  });

  it('puts them into a bucket, and tries again while it is away', async () => {
    const id = await make({ destination: bucket() });
    let faults = 0;
    s3.fault = ({ method }) => {
      if (method !== 'PUT' || faults >= 2) return undefined;
      faults += 1;
      return faults === 1 ? 'slow-down' : 'reset';
    };
    const run = await runNow(id);
    expect([...s3.objects.keys()].toSorted()).toEqual(
      [
        `estate/${run.file_name}`,
        `estate/${run.file_name.replace('.csv', '.manifest.json')}`,
        'estate/latest.csv',
        'estate/latest.manifest.json',
      ].toSorted(),
    );
    const { body } = s3.objects.get('estate/latest.csv')!;
    expect(createHash('sha256').update(body).digest('hex')).toBe(run.sha256);
  });

  it('shows why the last attempt has failed while it is tried again', async () => {
    const id = await make({ destination: bucket() });
    let isAway = true;
    s3.fault = () => (isAway ? { status: 500, body: '<Error/>' } : undefined);
    const { body: started } = await member.post(`${base}/${id}/run`);
    const runOfIt = () => ok(member.get(`${base}/${id}/runs/${started.run_id}`));
    const error = { code: 'upstream_failed', message: expect.stringContaining('responded with 500') };
    const waiting = await until('the first attempt to fail', async () => {
      const run = await runOfIt();
      return run.error && run;
    });
    expect(waiting).toMatchObject({ error, finished_at: null });
    expect((await ok(member.get(`${base}/${id}`))).last_run.error).toEqual(waiting.error);
    isAway = false;
    await until('the run to succeed', async () => (await runOfIt()).status === 'succeeded');
    expect(await runOfIt()).toMatchObject({ error: null, attempts: expect.any(Number) });
  });

  it('extracts what has changed since the last one that was delivered, where that is wished', async () => {
    const id = await make({ incremental: true, request: { format: 'ndjson', types: ['Objective'] } });
    const objective = async (name: string) =>
      (await member.post('/api/v1/cards', { type: 'Objective', name })).body.id as string;
    const [kept, gone] = [await objective('Kept'), await objective('Gone')];
    const rowsOf = async (run: { links: { file: string } }) =>
      jsonLines((await member.get(run.links.file)).text).filter((row) => row.id !== undefined);
    const first = await runNow(id);
    expect([first.after, first.rows]).toEqual([null, 2]);
    await admin.delete(`/api/v1/cards/${gone}`);
    const added = await objective('Added');
    const second = await runNow(id);
    expect(second.after).toBe(first.position);
    expect((await rowsOf(second)).map((row) => row.id).toSorted()).toEqual([gone, added].toSorted());
    // nothing is lost of what a run has not delivered
    await db('extraction_schedules').where({ id }).update('destination', { kind: 'mail', recipients: [] });
    await useSmtp(t.services, smtp.port, { smtp_host: '' });
    await member.patch(`/api/v1/cards/${kept}`, { description: 'Changed' });
    await runNow(id, 'failed');
    await db('extraction_schedules').where({ id }).update('destination', { kind: 'disk' });
    const fourth = await runNow(id);
    expect(fourth.after).toBe(second.position);
    expect((await rowsOf(fourth)).map((row) => row.id)).toEqual([kept]);
    // another request is extracted whole
    await member.patch(`${base}/${id}`, { request: { format: 'csv', types: ['Objective'] } });
    expect(await runNow(id)).toMatchObject({ after: null, rows: 2 });
  });

  it('fails for good where the store refuses, and tells the owner', async () => {
    const id = await make({ destination: bucket({ secret_access_key: 'wrong' }) });
    expect(await runNow(id, 'failed')).toMatchObject({
      status: 'failed',
      error: { code: 'storage_refused', message: expect.stringContaining('SignatureDoesNotMatch') },
    });
    expect((await member.get(`${base}/${id}`)).body.status).toBe('active');
    await untilTold(member, 'The extraction Nightly has failed');
  });

  it('mails the file to each recipient, once', async () => {
    const recipients = ['bi@estate.example', 'cfo@estate.example'];
    const destination = { kind: 'mail', recipients };
    const id = await make({ destination, request: { format: 'csv', types: ['Application'] } });
    expect((await runNow(id, 'failed')).error.code).toBe('mail_not_configured');
    await useSmtp(t.services, smtp.port);
    const run = await runNow(id);
    // the owner is told by mail of the failure before
    const mails = await until('the mails', async () => {
      const sent = smtp.mails.filter(({ to }) => !to.includes(member.email));
      return sent.length >= 2 ? sent : undefined;
    });
    expect(mails.flatMap(({ to }) => to).toSorted()).toEqual(recipients);
    for (const { raw } of mails) {
      expect(raw).toContain(`filename=${run.file_name}`);
      expect(createHash('sha256').update(attachmentOf(raw)).digest('hex')).toBe(run.sha256);
    }
  });

  it('pauses the schedule when the owner may not extract any more, and tells those who can act', async () => {
    const leaver = await t.as('member', 'leaver');
    const id = await make({}, leaver);
    await db('users').where({ id: leaver.userId }).update({ is_active: false });
    const { error } = await runNow(id, 'failed', admin);
    expect(error).toEqual({ code: 'forbidden', message: 'The owner of the schedule is no longer active.' });
    expect((await admin.get(`${base}/${id}`)).body).toMatchObject({
      status: 'paused',
      paused_reason: 'The owner of the schedule is no longer active.',
    });
    await untilTold(admin, 'The extraction Nightly is paused');
    // an administrator takes it over
    const request = (await admin.get(`${base}/${id}`)).body.request;
    const taken = await admin.patch(`${base}/${id}`, { request, status: 'active' });
    expect(taken.body).toMatchObject({ owner_id: admin.userId, status: 'active', paused_reason: null });
    expect((await runNow(id, 'succeeded', admin)).status).toBe('succeeded');
  });

  it('gives up its files after the runs and days that they are kept', async () => {
    const id = await make({ keep_runs: 2, destination: bucket() });
    const runs = [await runNow(id), await runNow(id), await runNow(id)];
    // a run has ended before the files of older ones are removed
    const gone = await until('the first run to be given up', async () => {
      const { body } = await member.get(`${base}/${id}/runs/${runs[0].id}`);
      return body.removed_at !== null && body;
    });
    expect(gone.links.file).toBeNull();
    const names = [...s3.objects.keys()].join(' ');
    expect(runs.map(({ file_name }) => names.includes(file_name))).toEqual([false, true, true]);
    await expectProblem(member.get(runs[0].links.file), 404);
    await member.patch(`${base}/${id}`, { keep_days: 1 });
    await db.raw(`update extraction_runs set slot = slot - interval '2 days' where schedule_id = ?`, [id]);
    await cleanExtractions(t.services, new AbortController().signal);
    expect([...s3.objects.keys()].filter((key) => key.endsWith('.csv'))).toEqual([
      'estate/latest.csv',
      `estate/${runs[2].file_name}`,
    ]);
    // a deleted schedule's folder goes with the next clean-up
    const onDisk = await make();
    await runNow(onDisk);
    await member.delete(`${base}/${onDisk}`);
    await cleanExtractions(t.services, new AbortController().signal);
    expect(await readdir(path.join(t.services.config.dataDir, 'extractions'))).not.toContain(onDisk);
  });
});
