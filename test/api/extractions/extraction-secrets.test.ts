// @redis
import { startWorkers } from '../../../workers/runtime.ts';
import { startS3 } from '../../emulators/s3.ts';
import { closeAfterAll, openApp } from '../../support/harness.ts';
import { until } from '../../support/until.ts';
import { base, bucketOf, nightly, runNow } from './extractions.fixture.ts';

const { t, db, member } = await openApp(['member'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
closeAfterAll(await startWorkers(t.services));
const s3 = closeAfterAll(await startS3());

it('keeps nothing of what a store repeats of the credentials', async () => {
  const [key, secret] = ['CANARYACCESSKEY', 'CanarySecretAccessKey'];
  s3.fault = ({ headers }) => ({
    status: 403,
    body: `<Error><Code>${secret}</Code><Message>${key} ${secret} ${headers.authorization}</Message></Error>`,
  });
  const destination = bucketOf(s3, { access_key_id: key, secret_access_key: secret });
  const { id } = await member.create(base, nightly({ destination }));
  expect((await runNow(t, member, id, 'failed')).error).toEqual({
    code: 'storage_refused',
    message: 'The storage responded with 403: check the endpoint, the region, the bucket and the access key.',
  });
  await until('the notification', () =>
    db('notifications').where({ title: 'The extraction Nightly has failed' }).first(),
  );
  const { rows } = await db.raw(`select to_jsonb(r) #>> '{}' as text from extraction_runs r union all
     select to_jsonb(j) #>> '{}' from jobs j union all select to_jsonb(e) #>> '{}' from events e union all
     select to_jsonb(n) #>> '{}' from notifications n union all select to_jsonb(m) #>> '{}' from mails m`);
  expect(rows.length).toBeGreaterThan(3);
  for (const { text } of rows) {
    expect(text).not.toContain(secret);
    expect(text).not.toContain('Signature=');
  }
});
