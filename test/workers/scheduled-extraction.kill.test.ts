// @redis
import { createHash } from 'node:crypto';
import { systemCaller } from '../../domain/kernel/context.ts';
import {
  createSchedule,
  runSchedule,
  type StartedRun,
} from '../../reports/exchange/schedules/extraction-schedules.commands.ts';
import { startS3 } from '../emulators/s3.ts';
import { startSftp } from '../emulators/sftp.ts';
import type { Child } from '../support/child.ts';
import { exportRequest } from '../support/exports.ts';
import { closeAfterAll, openApp } from '../support/harness.ts';
import { killableWorkers, letLeasesPass, survivingWorker, untilStatus } from '../support/jobs.ts';
import { allowRecipients, startSmtp, useSmtp } from '../support/smtp.ts';
import { until } from '../support/until.ts';

const startWorker = killableWorkers(() => t.services);
const goOn = survivingWorker(() => t.services);

// for the worker processes as well
vi.stubEnv('OUTBOUND_ALLOW', '127.0.0.1:*');
const { t, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const s3 = closeAfterAll(await startS3());
const server = closeAfterAll(await startSftp());
const smtp = closeAfterAll(await startSmtp());
await allowRecipients(t.services, 'estate.example');
await useSmtp(t.services, smtp.port);
await admin.post('/api/v1/cards', { type: 'Application', name: 'One' });
const ctx = await t.ctx({ ...systemCaller, userId: admin.userId, email: admin.email, role: 'admin' });

afterAll(() => vi.unstubAllEnvs());

async function start(destination: Parameters<typeof createSchedule>[2]['destination']): Promise<StartedRun> {
  const text = await createSchedule(ctx, t.services, {
    name: 'Nightly',
    cron: '0 3 1 1 *',
    time_zone: 'UTC',
    request: exportRequest(),
    incremental: false,
    destination,
    keep_runs: 5,
    keep_days: null,
  });
  return await runSchedule(ctx, JSON.parse(text).id);
}

const runRow = async (run: StartedRun) =>
  await t.services.db('extraction_runs').where({ id: run.run_id }).first();
const jobsOf = async (kind: string) => await t.services.db('jobs').where({ kind }).orderBy('id');

it('goes on where it was, with the file of its moment, and comes to one end', async () => {
  let worker: Child | undefined;
  const kills: string[] = [];
  s3.fault = ({ method, key }) => {
    const step = method === 'PUT' ? key.replace(/\d{8}T\d+Z/, 'slot') : '';
    // once at the file, once at the manifest, once at what is the latest
    if (!/slot.csv$|slot.manifest.json$|latest.csv$/.test(step) || kills.includes(step)) return undefined;
    kills.push(step);
    worker!.kill('SIGKILL');
    return 'reset';
  };
  const run = await start({
    kind: 's3',
    endpoint: s3.endpoint,
    region: s3.credentials.region,
    bucket: s3.bucket,
    prefix: 'estate/',
    path_style: true,
    access_key_id: s3.credentials.accessKeyId,
    secret_access_key: s3.credentials.secretAccessKey,
  });
  const made = new Set<string>();
  for (let killed = 1; killed <= 3; killed += 1) {
    worker = await startWorker();
    await worker.ended();
    made.add((await runRow(run)).file_id);
    // what changes meanwhile is not of this run's moment
    await (await t.as('admin')).post('/api/v1/cards', { type: 'Application', name: `Later ${killed}` });
    await letLeasesPass(t.services);
  }
  await goOn();
  await untilStatus(t.services, run.job_id, 'succeeded');
  const row = await runRow(run);
  expect([kills.length, made.size, row.attempts, row.status, row.rows]).toEqual([3, 1, 4, 'succeeded', 1]);
  expect([...s3.objects.keys()].map((key) => key.replace(/\d{8}T\d+Z/, 'slot')).toSorted()).toEqual(
    ['cards-slot.csv', 'cards-slot.manifest.json', 'latest.csv', 'latest.manifest.json'].map(
      (name) => `estate/${name}`,
    ),
  );
  const { body } = s3.objects.get('estate/latest.csv')!;
  expect(createHash('sha256').update(body).digest('hex')).toBe(row.sha256);
  const ends = await t.services.db('events').where({ event_type: 'extraction_run.succeeded' });
  expect(ends.map(({ data }) => data.id)).toEqual([run.run_id]);
}, 120_000);

it('leaves the same files on an SFTP server, each once, wherever it was killed', async () => {
  let worker: Child | undefined;
  const kills: string[] = [];
  server.fault = (operation, name) => {
    const step = `${operation} ${name.replace(/\d{8}T\d+Z/, 'slot').replace(/\.[0-9a-f-]{36}/, '')}`;
    const isMeant = /^(WRITE .*slot\.csv|RENAME .*slot\.csv|OPEN .*slot\.manifest|WRITE .*latest\.csv)/.test(
      step,
    );
    if (!isMeant || kills.includes(step)) return undefined;
    kills.push(step);
    worker!.kill('SIGKILL');
    return 'hang';
  };
  const { host, port, username, password, folder, hostKey } = server;
  const run = await start({ kind: 'sftp', host, port, username, password, folder, host_key: hostKey });
  for (let killed = 1; killed <= 4; killed += 1) {
    worker = await startWorker();
    await worker.ended();
    await letLeasesPass(t.services);
  }
  await goOn();
  await untilStatus(t.services, run.job_id, 'succeeded');
  const row = await runRow(run);
  expect([kills.length, row.attempts, row.status]).toEqual([4, 5, 'succeeded']);
  expect([...server.files.keys()].map((name) => name.replace(/\d{8}T\d+Z/, 'slot')).toSorted()).toEqual(
    ['cards-slot.csv', 'cards-slot.manifest.json', 'latest.csv', 'latest.manifest.json'].map(
      (name) => `/in/${name}`,
    ),
  );
  const latest = server.files.get('/in/latest.csv')!;
  expect(createHash('sha256').update(latest).digest('hex')).toBe(row.sha256);
}, 180_000);

it('sends nobody a second mail', async () => {
  let worker: Child | undefined;
  smtp.behaviour.data = () => {
    // the mail is taken, and nobody hears of it
    worker!.kill('SIGKILL');
    smtp.behaviour = {};
    return undefined;
  };
  worker = await startWorker();
  const run = await start({ kind: 'mail', recipients: ['bi@estate.example', 'cfo@estate.example'] });
  await worker.ended();
  await letLeasesPass(t.services);
  await goOn();
  await untilStatus(t.services, run.job_id, 'succeeded');
  await until('all mails to end', async () =>
    (await jobsOf('mail')).every(({ status }) => status === 'succeeded' || status === 'failed'),
  );
  const got = smtp.mails.flatMap(({ to }) => to);
  const mails = await t.services.db('mails').orderBy('recipient').select('recipient', 'outcome');
  expect(mails.map(({ recipient }) => recipient)).toEqual(['bi@estate.example', 'cfo@estate.example']);
  // the worker may have been about to give away the other one too, which is in doubt then and not sent again
  for (const { recipient, outcome } of mails) {
    const times = got.filter((to) => to === recipient).length;
    expect([outcome, times], recipient).toEqual(
      outcome === 'sent' ? ['sent', 1] : ['unconfirmed', Math.min(times, 1)],
    );
  }
  expect(mails.map(({ outcome }) => outcome)).toContain('unconfirmed');
}, 120_000);
