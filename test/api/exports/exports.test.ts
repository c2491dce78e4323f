// @redis
import { parse } from 'csv-parse/sync';
import { startWorkers } from '../../../workers/runtime.ts';
import {
  answered,
  closeAfterAll,
  expectInvalid,
  expectProblem,
  ok,
  openApp,
  pluck,
} from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';

const { t, db, admin, member, viewer } = await openApp(['member', 'viewer', 'admin']);
closeAfterAll(await startWorkers(t.services));
for (let n = 0; n < 3; n += 1)
  await member.card({ name: `App ${n}`, attributes: { costTotalAnnual: 4242 + n } });

describe('POST /exports', () => {
  it('starts a job whose file is downloaded whole or in part, with its checksum, by those who may', async () => {
    const started = await member.post('/api/v1/exports', { format: 'csv', types: ['Application'] });
    expect([started.status, started.headers.location]).toEqual([202, `/api/v1/jobs/${started.body.job_id}`]);
    await untilStatus(t.services, started.body.job_id, 'succeeded');
    const job = await member.get(started.headers.location!);
    expect(job.body).toMatchObject({ status: 'succeeded', progress: 1, counts: { rows: 3, total: 3 } });
    const url = `${started.headers.location}/result`;
    const file = await answered(member.get(url));
    expect(file.headers['content-disposition']).toMatch(
      /^attachment; filename="?estate-cards-\d{4}-\d\d-\d\d\.csv"?$/,
    );
    expect(parse(file.raw, { columns: true })).toHaveLength(3);
    const part = await member.get(url, { range: 'bytes=0-9' });
    expect([part.status, part.text]).toEqual([206, file.text.slice(0, 10)]);
    await expectProblem(viewer.get(url), 404);
    await ok((await t.as('admin')).get(url));
    const events = await db('events')
      .whereIn('event_type', ['export.started', 'file.downloaded'])
      .pluck('event_type');
    expect(events).toContain('export.started');
    expect(events).toContain('file.downloaded');
  });

  it('writes cards in the order of a list, for those who may see what it tells', async () => {
    const orderBy = async (more: object) => {
      const body = { format: 'csv', types: ['Application'], columns: ['name'], ...more };
      const { job_id } = (await answered(admin.post('/api/v1/exports', body), 202)).body;
      await untilStatus(t.services, job_id, 'succeeded');
      const { raw } = await admin.get(`/api/v1/jobs/${job_id}/result`);
      return pluck(parse(raw, { columns: true }), 'name');
    };
    expect(await orderBy({ sort_by: 'attributes.costTotalAnnual', sort_dir: 'desc' })).toEqual([
      'App 2',
      'App 1',
      'App 0',
    ]);
    expect(await orderBy({ sort_by: 'subtype,-name' })).toEqual(['App 2', 'App 1', 'App 0']);
    expect(await orderBy({ sort_by: 'path' })).toEqual(['App 0', 'App 1', 'App 2']);
    const post = (more: object, by = admin) => by.post('/api/v1/exports', { format: 'csv', ...more });
    await expectInvalid(post({ sort_by: 'nothing' }), 'sort_by');
    await expectInvalid(post({ sort_by: 'name', after: '0' }), 'sort_by');
    await expectInvalid(post({ sort_by: 'name', kind: 'relations' }), 'sort_by');
    const blind = await t.holding('inventory.export', 'inventory.view');
    await expectProblem(post({ sort_by: 'attributes.costTotalAnnual' }, blind), 403, 'costs.view');
  });

  it('is the same job for the same idempotency key', async () => {
    const key = { 'idempotency-key': 'nightly-1' };
    const one = await member.post('/api/v1/exports', { format: 'csv' }, key);
    expect((await member.post('/api/v1/exports', { format: 'csv' }, key)).body.job_id).toBe(one.body.job_id);
  });

  it('refuses unknown fields, formats and callers without the right', async () => {
    const bad = await member.post('/api/v1/exports', { format: 'pdf', colums: [] });
    expect(bad.status).toBe(422);
    expect(pluck(bad.body.errors, 'field')).toContain('colums');
    const reader = await t.holding('inventory.view');
    await expectProblem(reader.post('/api/v1/exports', { format: 'csv' }), 403, 'inventory.export');
  });
});

describe('GET /cards/export/csv', () => {
  it('streams the same rows as the job, costs cut for those without the right', async () => {
    const stream = await answered(member.get('/api/v1/cards/export/csv?type=Application'));
    expect(Number(stream.headers['x-position'])).toBeGreaterThan(0);
    const rows: Record<string, string>[] = parse(stream.raw, { columns: true });
    expect(rows.map((row) => row['attributes.costTotalAnnual'])).toEqual(['4242', '4243', '4244']);
    const cut = await viewer.get('/api/v1/cards/export/csv');
    // ids may hold the same digits
    expect(cut.text).not.toMatch(/(^|,)424[234](,|$)/m);
    await expectProblem(viewer.get('/api/v1/cards/export/csv?type=Nothing'), 422);
  });

  it('begins with a byte order mark if asked', async () => {
    const query = 'type=Application&profile=roundtrip';
    const plain = await answered(member.get(`/api/v1/cards/export/csv?${query}`));
    const marked = await answered(member.get(`/api/v1/cards/export/csv?${query}&bom=true`));
    expect(marked.raw).toEqual(Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), plain.raw]));
  });

  it('starts the same as a job where that is preferred', async () => {
    const url = '/api/v1/cards/export/csv?type=Application&profile=roundtrip';
    const answer = await member.get(url, { prefer: 'wait=10, Respond-Async; now' });
    expect([answer.status, answer.headers['preference-applied']]).toEqual([202, 'respond-async']);
    expect(answer.headers.location).toBe(`/api/v1/jobs/${answer.body.job_id}`);
    const { payload } = await db('jobs').where({ id: answer.body.job_id }).first();
    expect(payload).toMatchObject({ format: 'csv', types: ['Application'], profile: 'roundtrip' });
    await ok(member.get(url, { prefer: 'return=minimal' }));
  });
});

it('gives a file no longer to its owner who lost a role that showed its cards and costs', async () => {
  await admin.post('/api/v1/roles', {
    key: 'by_role',
    label: 'By role',
    permissions: { 'inventory.export': true },
  });
  const owner = await t.as('by_role');
  const { body } = await admin.get('/api/v1/cards?type=Application&fields=id');
  const role = { user_id: owner.userId, role: 'responsible' };
  const given = await admin.post(`/api/v1/cards/${body.items[0].id}/stakeholders`, role);
  const started = await owner.post('/api/v1/exports', { format: 'csv', types: ['Application'] });
  await untilStatus(t.services, started.body.job_id, 'succeeded');
  const url = `/api/v1/jobs/${started.body.job_id}/result`;
  expect((await owner.get(url)).text).toMatch(/424\d/);
  await admin.delete(`/api/v1/stakeholders/${given.body.id}`);
  await expectProblem(owner.get(url), 403);
  await ok(admin.get(url));
});

it('stakeholders are no column for those who may not see them, and refused when they ask for it', async () => {
  const extractor = await t.holding('inventory.view', 'inventory.export');
  const header = async (client: typeof extractor) =>
    (await client.get('/api/v1/cards/export/csv?type=Application')).text.split('\r\n')[0]!.split(',');
  expect(await header(extractor)).toEqual(
    (await header(await t.as('viewer'))).filter((name) => name !== 'stakeholders'),
  );
  await expectProblem(
    extractor.post('/api/v1/exports', { format: 'csv', columns: ['stakeholders'] }),
    403,
    'stakeholders.view',
  );
});

it('GET /cards/export/json streams what was asked for, and cuts what the caller may not see', async () => {
  const made = async (body: object) => (await member.post('/api/v1/cards', body)).body;
  const app = await made({ type: 'Application', name: 'Exported', attributes: { costTotalAnnual: 777001 } });
  const provider = await made({ type: 'Provider', name: 'Acme' });
  const related = await member.relate('relProviderToApp', provider.id, app.id);
  await member.post(`/api/v1/cards/${app.id}/stakeholders`, { user_id: member.userId, role: 'responsible' });
  const url = '/api/v1/cards/export/json?types=Application';
  const answer = await member.get(`${url},Provider&include_relations=true&include_stakeholders=true`);
  expect(answer.status, answer.text).toBe(200);
  expect(Number(answer.headers['x-position'])).toBeGreaterThan(0);
  expect(answer.body.find(({ id }: { id: string }) => id === app.id)).toMatchObject({
    name: 'Exported',
    attributes: { costTotalAnnual: 777001 },
    owner: 'member',
    owner_email: member.email,
    provider_names: ['Acme'],
    stakeholders: [{ user_id: member.userId, role: 'responsible' }],
    relations: [
      {
        id: related.id,
        type: 'relProviderToApp',
        direction: 'incoming',
        peer_id: provider.id,
        peer_name: 'Acme',
      },
    ],
  });
  const filtered = await viewer.get(`${url}&filter=${encodeURIComponent('name = Exported')}`);
  expect(filtered.body).toHaveLength(1);
  expect(filtered.body[0]).not.toHaveProperty('relations');
  expect(filtered.text).not.toContain('777001');
  expect((await viewer.get(`${url}&filter=${encodeURIComponent('name = Nothing')}`)).body).toEqual([]);

  const exporter = await t.holding('inventory.view', 'inventory.export');
  const plain = (await exporter.get(url)).body.find(({ id }: { id: string }) => id === app.id);
  expect(plain).toMatchObject({ owner: null, owner_email: null, provider_names: [] });
  for (const part of ['relations', 'stakeholders'])
    await expectProblem(exporter.get(`${url}&include_${part}=true`), 403, `${part}.view`);
  for (const types of ['Nothing', ',', Array.from({ length: 21 }, (_, n) => `T${n}`).join()])
    await expectProblem(member.get(`/api/v1/cards/export/json?types=${types}`), 422);
  await expectProblem(member.get('/api/v1/cards/export/json'), 422);
});
