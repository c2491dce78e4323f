// @redis

import { createHash } from 'node:crypto';
import { parse } from 'csv-parse/sync';
import { startWorkers, type Workers } from '../../../workers/runtime.ts';
import { answered, ok, openApp, type TestClient } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';
import { readWorkbook, XLSX } from '../../support/workbook.ts';

const SVG = 'image/svg+xml';
const costs = '/api/v1/reports/cost?filter=name%20!%3D%20%22Three%22';
const preferred = (accept: string) => ({ accept, prefer: 'respond-async' });

let workers: Workers | undefined;

const { t, db } = await openApp();
await db('roles').insert({
  key: 'reader',
  label: 'Reader',
  permissions: { 'inventory.view': true, 'reports.ea_dashboard': true, 'reports.portfolio': true },
});
const [member, reader] = await t.clients('member', 'reader');
const ids: string[] = [];
for (const [name, cost] of [
  ['One', 10],
  ['=Two', 20],
  ['Three', 30],
] as const) {
  const made = await member.card({
    name,
    attributes: { costTotalAnnual: cost, businessCriticality: 'businessCritical' },
  });
  ids.push(made.id);
}
const server = await member.post('/api/v1/cards', { type: 'ITComponent', name: 'Server' });
const body = { type: 'relAppToITC', source_id: ids[0], target_id: server.body.id };
await member.create('/api/v1/relations', body);
const one = ids[0]!;

afterAll(() => workers?.close(5_000));

it('tells in every form of which moment it is', async () => {
  for (const report of ['cost', 'roadmap', 'dependencies']) {
    const url = `/api/v1/reports/${report}`;
    const { position } = (await member.get(url)).body;
    expect(position).toMatch(/^\d+$/);
    for (const accept of ['text/csv', XLSX, SVG]) {
      const answer = await member.get(url, { accept });
      expect([answer.status, answer.headers['x-position']], `${report} ${accept}`).toEqual([200, position]);
    }
  }
});

/** Starts a job for the answer. */
async function start(client: TestClient, url: string, accept = 'application/json'): Promise<string> {
  const started = await client.get(url, preferred(accept));
  expect([started.status, started.headers['preference-applied']], started.text).toEqual([
    202,
    'respond-async',
  ]);
  expect(started.headers.location).toBe(`/api/v1/jobs/${started.body.job_id}`);
  return started.body.job_id;
}

const namesIn = (csv: Buffer): string[] =>
  (parse(csv, { columns: true, bom: true }) as { name: string }[]).map(({ name }) => name);

/** Waits for the job and downloads its file. */
async function download(client: TestClient, id: string) {
  const job = await untilStatus(t.services, id, 'succeeded');
  const file = await answered(client.get(`/api/v1/jobs/${id}/result`));
  expect(job.result).toMatchObject({
    position: expect.stringMatching(/^\d+$/),
    file: { size: file.raw.length, sha256: createHash('sha256').update(file.raw).digest('hex') },
  });
  return { job, file };
}

// before any worker runs, so that what changes meanwhile changes in time
it('is refused at once what it would be refused anyway', async () => {
  for (const [client, url, status, code] of [
    [reader, costs, 403, 'forbidden'],
    [member, '/api/v1/reports/cost?filter=name', 422, 'validation_failed'],
    [member, '/api/v1/reports/cost?nothing=1', 422, 'validation_failed'],
    [member, '/api/v1/reports/admin-dashboard', 403, 'forbidden'],
  ] as const) {
    const answer = await client.get(url, preferred('text/csv'));
    expect([answer.status, answer.body.code], url).toEqual([status, code]);
  }
  const kept = await member.get(costs);
  await ok(member.get(costs, { ...preferred('application/json'), 'if-none-match': kept.headers.etag! }), 304);
  expect(await db('jobs').where({ kind: 'report' })).toEqual([]);
});

it('holds what the owner may still see, and nothing once cancelled', async () => {
  const cancelled = await start(member, costs);
  await ok(member.post(`/api/v1/jobs/${cancelled}/cancel`));
  const lost = await start(reader, '/api/v1/reports/roadmap?type=Application');
  const cut = await start(member, '/api/v1/reports/portfolio?size_field=businessCriticality');
  const wrong = await start(member, '/api/v1/reports/roadmap?table=nothing', 'text/csv');
  const setRole = async (key: string, change: (all: Record<string, boolean>) => void) => {
    const { permissions } = await db('roles').where({ key }).first();
    const changed = { ...permissions };
    change(changed);
    await db('roles').where({ key }).update({ permissions: changed });
    return () => db('roles').where({ key }).update({ permissions });
  };
  const giveBack = [
    await setRole('reader', (all) => delete all['reports.ea_dashboard']),
    await setRole('member', (all) => {
      all['costs.view'] = false;
    }),
  ];
  workers = await startWorkers(t.services);
  expect((await untilStatus(t.services, lost, 'failed')).error).toMatchObject({ code: 'forbidden' });
  const { file } = await download(member, cut);
  expect(file.text).toContain('One');
  expect(file.text).not.toContain('costTotalAnnual');
  for (const back of giveBack) await back();
  expect((await untilStatus(t.services, wrong, 'failed')).error).toMatchObject({ code: 'validation_failed' });
  expect((await untilStatus(t.services, cancelled, 'cancelled')).result_file_id).toBeNull();
});

it('is the answer that the request would have had, in each format', async () => {
  const ids = {
    json: await start(member, costs),
    csv: await start(member, `${costs}&table=items`, 'text/csv'),
    xlsx: await start(member, costs, XLSX),
    svg: await start(member, costs, SVG),
  };
  const { file: json } = await download(member, ids.json);
  const at = (await member.get(costs)).body;
  expect({ ...JSON.parse(json.raw.toString()), position: '' }).toEqual({ ...at, position: '' });
  const { file: csv } = await download(member, ids.csv);
  expect(csv.headers['content-disposition']).toMatch(/estate-cost-items-\d{4}-\d\d-\d\d\.csv/);
  expect(namesIn(csv.raw)).toEqual(["'=Two", 'One']);
  const { file: xlsx } = await download(member, ids.xlsx);
  expect((await readWorkbook(xlsx.raw)).getWorksheet('items')!.rowCount).toBe(3);
  const { file: svg } = await download(member, ids.svg);
  expect(svg.raw.equals((await member.get(costs, { accept: SVG })).raw)).toBe(true);
  const events = await db('events')
    .where({ event_type: 'report.started' })
    .whereRaw(`data->>'report_job_id' = ?`, [ids.csv]);
  expect(events).toMatchObject([{ data: { report: 'cost', format: 'csv', table: 'items' } }]);
});

it('shows the past, and streams what is too large to be held', async () => {
  const before = new Date().toISOString();
  await member.card({ type: 'ITComponent', name: 'Late' });
  const past = await start(member, `/api/v1/reports/dependencies?as_of=${before}&table=nodes`, 'text/csv');
  const whole = await start(member, '/api/v1/reports/dependencies');
  const drawn = await start(member, '/api/v1/reports/dependencies', SVG);
  const around = await start(member, `/api/v1/reports/dependencies?center_id=${one}`, XLSX);
  const names = namesIn((await download(member, past)).file.raw).sort();
  expect(names).toEqual(["'=Two", 'One', 'Server', 'Three']);
  expect(JSON.parse((await download(member, whole)).file.raw.toString()).nodes).toHaveLength(5);
  expect((await download(member, drawn)).file.raw.toString()).toContain('5 cards in ');
  const book = await readWorkbook((await download(member, around)).file.raw);
  expect(book.worksheets.map(({ name, rowCount }) => [name, rowCount])).toEqual([
    ['edges', 2],
    ['nodes', 3],
  ]);
});
