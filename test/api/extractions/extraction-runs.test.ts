import { createServer } from 'node:net';
import { startWorkers } from '../../../workers/runtime.ts';
import { closeAfterAll, expectProblem, ok, openApp } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';
import { startSmtp, useSmtp } from '../../support/smtp.ts';
import { until } from '../../support/until.ts';
import { base, nightly, runNow } from './extractions.fixture.ts';

const { t, db, member } = await openApp(['member'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
const silent = createServer().listen(0, '127.0.0.1');
await once('listening');
closeAfterAll({ close: () => silent.close() });
let connections = 0;
silent.on('connection', (socket) => {
  connections += 1;
  socket.on('error', () => undefined);
});
const smtp = closeAfterAll(await startSmtp());
closeAfterAll(await startWorkers(t.services));

function once(event: string): Promise<unknown> {
  return new Promise((resolve) => silent.once(event, resolve));
}

const hanging = async (): Promise<string> => {
  const { port } = silent.address() as { port: number };
  const host_key = `SHA256:${'A'.repeat(43)}`;
  const destination = { kind: 'sftp', host: '127.0.0.1', port, username: 'a', host_key, password: 'b' };
  return (await member.create(base, nightly({ destination }))).id;
};
/** Starts a run that waits for its storage. @returns its job. */
const wait = async (id: string): Promise<string> => {
  const before = connections;
  const { body } = await member.post(`${base}/${id}/run`);
  await until('the connection', async () => connections > before);
  return body.job_id;
};

it('a second run is refused while one waits, and a pause or deletion cancels it', async () => {
  const id = await hanging();
  const first = await wait(id);
  await expectProblem(member.post(`${base}/${id}/run`), 409, 'wrong_state');
  await ok(member.patch(`${base}/${id}`, { status: 'paused' }));
  await untilStatus(t.services, first, 'cancelled');
  const second = await wait(id);
  await ok(member.delete(`${base}/${id}`), 204);
  await untilStatus(t.services, second, 'cancelled');
});

it('one person starts at most ten runs a minute', async () => {
  await db('throttles').delete();
  const { id } = await member.create(base, nightly());
  for (let n = 0; n < 10; n += 1) {
    const { body } = await member.post(`${base}/${id}/run`);
    await untilStatus(t.services, body.job_id, 'succeeded');
  }
  const refused = await member.post(`${base}/${id}/run`);
  expect([refused.status, refused.body.code]).toEqual([429, 'too_many_requests']);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  await db('throttles').delete();
});

it('a mail names the owner of the schedule', async () => {
  await useSmtp(t.services, smtp.port);
  const { email, display_name: name } = (await member.get('/api/v1/auth/me')).body;
  const destination = { kind: 'mail', recipients: [email] };
  const { id } = await member.create(base, nightly({ destination }));
  await runNow(t, member, id);
  await until('the mail', async () => smtp.mails.length > 0);
  const raw = JSON.stringify(smtp.mails[0]);
  expect(raw).toContain(`Sent for ${name} by the schedule`);
});
