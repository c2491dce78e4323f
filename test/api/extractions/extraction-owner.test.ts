import { startWorkers } from '../../../workers/runtime.ts';
import { startS3 } from '../../emulators/s3.ts';
import { closeAfterAll, expectProblem, openApp } from '../../support/harness.ts';
import { allowRecipients, startSmtp, useSmtp } from '../../support/smtp.ts';
import { until } from '../../support/until.ts';
import { attachmentOf, base, bucketOf, nightly, runNow } from './extractions.fixture.ts';

/** A schedule of the administrator that puts costs into the data folder. */
let id: string;

const { t, db, admin } = await openApp(['admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
closeAfterAll(await startWorkers(t.services));
const s3 = closeAfterAll(await startS3());
const smtp = closeAfterAll(await startSmtp());
await allowRecipients(t.services, 'estate.example');
await useSmtp(t.services, smtp.port);
const rights = { 'admin.settings': true, 'inventory.view': true, 'inventory.export': true };
await db('roles').insert({ key: 'steward', label: 'Steward', permissions: JSON.stringify(rights) });
await db.raw("select record_events('[]', '{roles}')");
/** Changes others' schedules and extracts, but does not see costs. */
const steward = await t.as('steward');
await admin.post('/api/v1/cards', {
  type: 'Application',
  name: 'App',
  attributes: { costTotalAnnual: 4242 },
});

beforeEach(async () => {
  s3.objects.clear();
  smtp.mails.length = 0;
  id = (await admin.create(base, nightly())).id;
});

it('a bucket gets what the one who names it sees', async () => {
  const changed = await steward.patch(`${base}/${id}`, { destination: bucketOf(s3) });
  expect(changed.body).toMatchObject({ owner_id: steward.userId });
  await runNow(t, steward, id);
  const { body } = s3.objects.get('latest.csv')!;
  expect(body.toString()).toContain('App');
  expect(body.toString()).not.toContain('4242');
});

it('recipients of mail get what the one who names them sees', async () => {
  const destination = { kind: 'mail', recipients: ['elsewhere@estate.example'] };
  const changed = await steward.patch(`${base}/${id}`, { destination });
  expect(changed.body).toMatchObject({ owner_id: steward.userId });
  await runNow(t, steward, id);
  const attached = attachmentOf((await until('the mail', async () => smtp.mails[0])).raw).toString();
  expect(attached).toContain('App');
  expect(attached).not.toContain('4242');
});

it('a schedule that somebody resumes is theirs; another name or another time leaves it to its owner', async () => {
  await steward.patch(`${base}/${id}`, { name: 'Renamed', cron: '0 3 * * *', status: 'paused' });
  const paused = await steward.get(`${base}/${id}`);
  expect(paused.body).toMatchObject({ owner_id: admin.userId, status: 'paused' });
  const resumed = await steward.patch(`${base}/${id}`, { status: 'active' });
  expect(resumed.body).toMatchObject({ owner_id: steward.userId, status: 'active' });
});

it('what was made for one owner is not opened by another who resumes the schedule', async () => {
  const run = await runNow(t, admin, id);
  await steward.patch(`${base}/${id}`, { destination: { kind: 'disk' } });
  await expectProblem(steward.get(`${base}/${id}/runs/${run.id}/file`), 403, 'admin.export_workspace');
});
