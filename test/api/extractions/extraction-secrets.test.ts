// @redis
import { expect, it } from 'vitest';
import { startWorkers } from '../../../workers/runtime.ts';
import { startS3 } from '../../emulators/s3.ts';
import { closeAfterAll, openApp } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';

const base = '/api/v1/extraction-schedules';
const secret = 'CanarySecretAccessKey';
const key = 'CANARYACCESSKEY';

const { t, db } = await openApp([], { OUTBOUND_ALLOW: '127.0.0.1:*' });
closeAfterAll(await startWorkers(t.services));
const s3 = closeAfterAll(await startS3());
const member = await t.as('member');

it('keeps nothing of what a store repeats of the credentials', async () => {
  s3.fault = ({ headers }) => ({
    status: 403,
    body: `<Error><Code>${secret}</Code><Message>${key} ${secret} ${headers.authorization}</Message></Error>`,
  });
  const made = await member.create(base, {
    name: 'Nightly',
    cron: '30 2 * * *',
    request: { format: 'csv', types: ['Application'] },
    destination: {
      kind: 's3',
      endpoint: s3.endpoint,
      region: s3.credentials.region,
      bucket: s3.bucket,
      path_style: true,
      access_key_id: key,
      secret_access_key: secret,
    },
  });
  const started = await member.post(`${base}/${made.id}/run`);
  await untilStatus(t.services, started.body.job_id, 'failed');
  const run = await member.get(`${base}/${made.id}/runs/${started.body.run_id}`);
  expect(run.body.error).toEqual({
    code: 'storage_refused',
    message: 'The storage responded with 403: check the endpoint, the region, the bucket and the access key.',
  });
  await until('the notification', () =>
    db('notifications').where({ title: 'The extraction Nightly has failed' }).first(),
  );
  const { rows } = await db.raw(
    `select to_jsonb(r) #>> '{}' as text from extraction_runs r union all
     select to_jsonb(j) #>> '{}' from jobs j union all select to_jsonb(e) #>> '{}' from events e union all
     select to_jsonb(n) #>> '{}' from notifications n union all select to_jsonb(m) #>> '{}' from mails m`,
  );
  expect(rows.length).toBeGreaterThan(3);
  for (const { text } of rows) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain('Signature=');
  }
});
