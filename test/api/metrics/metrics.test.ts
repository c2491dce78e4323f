import { randomUUID } from 'node:crypto';
import { answered, expectProblem, openApp } from '../../support/harness.ts';

const { t, db, admin, member } = await openApp(['admin', 'member']);

async function figures(): Promise<Map<string, number>> {
  const answer = await answered(admin.get('/metrics'));
  expect(answer.headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  const lines = answer.text.split('\n').filter((line) => line && !line.startsWith('#'));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.split(' ').at(-1))]));
}

const requests = (route: string, status: number) =>
  `estate_http_request_duration_seconds_count{method="GET",route="${route}",status="${status}"}`;

test('requests are counted by route, and addresses that lead nowhere as one', async () => {
  await member.get(`/api/v1/users/${member.userId}`);
  await member.get(`/api/v1/users/${randomUUID()}`);
  await member.get(`/nowhere/${randomUUID()}`);
  await member.get(`/nowhere/${randomUUID()}`);
  const now = await figures();
  expect(now.get(requests('/api/v1/users/:id', 200))).toBe(1);
  expect(now.get(requests('/api/v1/users/:id', 404))).toBe(1);
  expect(now.get(requests('none', 404))).toBe(2);
  expect([...now.keys()].join('\n')).not.toContain(member.userId);
});

test('jobs, feed and process show', async () => {
  await db('jobs').insert([
    { kind: 'export', queue: 'bulk', status: 'succeeded', finished_at: new Date() },
    { kind: 'import', queue: 'bulk', status: 'queued', run_after: new Date(Date.now() - 60_000) },
    { kind: 'import', queue: 'bulk', status: 'queued' },
  ]);
  const before = await figures();
  expect(before.get('estate_jobs{kind="import",status="queued"}')).toBe(2);
  expect(before.get('estate_jobs{kind="export",status="succeeded"}')).toBe(1);
  expect(before.get('estate_jobs_oldest_waiting_seconds')).toBeGreaterThanOrEqual(60);
  expect(before.get('process_resident_memory_bytes')).toBeGreaterThan(0);

  // what is gone shows no longer
  await db('jobs').delete();
  const position = (await admin.patch(`/api/v1/users/${admin.userId}`, { locale: 'de' })).headers[
    'x-position'
  ];
  const after = await figures();
  expect(after.has('estate_jobs{kind="import",status="queued"}')).toBe(false);
  expect(after.get('estate_feed_position')).toBe(Number(position));
});

test('only who may change settings reads them', async () =>
  await expectProblem((await t.as('bpm_admin')).get('/metrics'), 403));
