import { appPermissions } from '../../../domain/kernel/permissions/permissions.data.ts';
import { startWorkers } from '../../../workers/runtime.ts';
import { pack, unpack } from '../../support/archives.ts';
import { form } from '../../support/forms.ts';
import { closeAfterAll, expectProblem, ok, openApp } from '../../support/harness.ts';
import { untilStatus } from '../../support/jobs.ts';
import { until } from '../../support/until.ts';

const url = '/api/v1/admin/workspace';

const { t, db, admin } = await openApp(['admin']);
closeAfterAll(await startWorkers(t.services));
await admin.post('/api/v1/cards', {
  type: 'Application',
  name: 'Payroll',
  attributes: { costTotalAnnual: 7 },
});
const archive = (await admin.get(`${url}/export`)).raw;

const upload = (
  content: Buffer | string,
  field = 'file',
  headers: Record<string, string> = {},
  client = admin,
) => {
  const sent = form({ name: field, filename: 'my <w>.zip', type: 'application/zip', content });
  const options = { ...sent, headers: { ...sent.headers, ...headers } };
  return client.request({ method: 'POST', url: `${url}/import`, ...options });
};
const read = (id: string) => admin.get(`${url}/import/${id}`);
const ended = (id: string, status: string) =>
  until(`the transfer to be ${status}`, async () => {
    const { body } = await read(id);
    return body.status === status ? body : undefined;
  });
const events = (type: string) => db('events').where({ event_type: type }).orderBy('position').pluck('data');

it('sends the archive at once, and notes that it went out', async () => {
  const answer = await admin.get(`${url}/export?include_archived=true`);
  expect(answer.headers).toMatchObject({
    'content-type': 'application/zip',
    'content-disposition': expect.stringMatching(/^attachment; filename="estate-workspace-[\d-]+\.zip"$/),
    'cache-control': 'no-store',
  });
  const parts = await unpack(answer.raw);
  expect(JSON.parse(parts.get('manifest.json')!.toString())).toMatchObject({
    format: 'estate-workspace',
    include_archived: true,
    position: answer.headers['x-position'],
  });
  expect(parts.get('content/cards.ndjson')!.toString()).toContain('Payroll');
  expect((await events('export.streamed')).at(-1)).toMatchObject({
    format: 'workspace',
    include_archived: true,
  });
  await expectProblem(admin.get(`${url}/export?all=1`), 422);
});

it('makes the archive as a job, as preferred', async () => {
  const started = await admin.get(`${url}/export`, { prefer: 'respond-async' });
  expect([started.status, started.headers['preference-applied']]).toEqual([202, 'respond-async']);
  await untilStatus(t.services, started.body.job_id, 'succeeded');
  const file = await admin.get(`/api/v1/jobs/${started.body.job_id}/result`);
  expect([...(await unpack(file.raw)).keys()]).toContain('manifest.json');
});

it('reads an archive, tells what it would change, writes it and forgets it', async () => {
  const sent = await ok(upload(archive), 202);
  expect(sent).toMatchObject({ filename: 'my _w_.zip', status: 'parsing', diff: null });
  const { id } = sent;
  const previewed = await ended(id, 'previewed');
  expect(previewed.diff.kinds.cards).toEqual({ create: 0, update: 0, unchanged: 1, conflict: 0 });
  const applied = await admin.post(`${url}/import/${id}/apply`);
  expect([applied.status, applied.body.status]).toEqual([202, 'applying']);
  expect((await ended(id, 'applied')).result).toMatchObject({ left: [], totals: { create: 0 } });
  const again = await admin.post(`${url}/import/${id}/apply`);
  expect([again.status, again.body.code, again.body.status_now]).toEqual([409, 'wrong_state', 'applied']);
  await ok(admin.delete(`${url}/import/${id}`), 204);
  await expectProblem(read(id), 404);
  expect((await events('import.started')).slice(-2)).toMatchObject([
    { format: 'workspace', transfer_id: id },
    { format: 'workspace', transfer_id: id, applies: true },
  ]);
  expect((await events('import.discarded')).at(-1)).toMatchObject({ transfer_id: id, was: 'applied' });
});

it('says why an archive is none', async () => {
  const parts = await unpack(archive);
  parts.delete('content/cards.ndjson');
  const { body } = await upload(await pack(parts));
  const failed = await ended(body.id, 'failed');
  expect(failed.error_message).toBe(
    'The manifest names content/cards.ndjson, which is not in the archive once.',
  );
  const refused = await admin.post(`${url}/import/${body.id}/apply`);
  expect([refused.status, refused.body.status_now]).toEqual([409, 'failed']);
  await expectProblem(admin.post(`/api/v1/jobs/${failed.job_id}/retry`), 409, 'job_not_retryable');
});

it('refuses what is no upload of an archive', async () => {
  const wrong = [await upload('no zip at all'), await upload(archive, 'archive'), await upload('')];
  expect(wrong.map(({ status, body }) => [status, body.errors[0].field, body.errors[0].code])).toEqual([
    [422, 'file', 'bad_archive'],
    [422, 'archive', 'unknown_field'],
    [422, 'file', 'bad_archive'],
  ]);
  await expectProblem(admin.post(`${url}/import`, {}), 415);
  const key = { 'idempotency-key': 'a-transfer' };
  const [first, second] = [await upload(archive, 'file', key), await upload(archive, 'file', key)];
  expect(second.body.id).toBe(first.body.id);
});

it('knows only what there is, and keeps costs from who may not see them', async () => {
  for (const path of ['', '/apply']) {
    const asked = `${url}/import/00000000-0000-4000-8000-000000000000${path}`;
    expect((await (path ? admin.post(asked) : admin.get(asked))).status).toBe(404);
    await expectProblem(admin.post(`${url}/import/x/apply`), 422);
  }
  await admin.post('/api/v1/roles', {
    key: 'mover',
    label: 'Mover',
    color: '#000000',
    permissions: { 'admin.export_workspace': true, 'admin.import_workspace': true },
  });
  const mover = await t.as('mover');
  const answers = [await mover.get(`${url}/export`), await upload(archive, 'file', {}, mover)];
  expect(answers.map(({ status, body }) => [status, body.permission])).toEqual([
    [403, 'costs.view'],
    [403, 'costs.view'],
  ]);
});

it('is brought in by those alone who hold every permission, since it writes every kind of object', async () => {
  const all = Object.keys(appPermissions);
  const importer = async (...keys: string[]) => {
    const answer = await upload(archive, 'file', {}, await t.holding(...keys));
    return [answer.status, answer.body.permission];
  };
  expect(await importer('admin.import_workspace', 'costs.view')).toEqual([403, 'inventory.view']);
  for (const missing of ['stakeholders.manage', 'admin.roles', 'adr.sign'])
    expect(await importer(...all.filter((key) => key !== missing))).toEqual([403, missing]);
});

it('is failed where its job was cancelled', async () => {
  const [file] = await db('files')
    .insert({ name: 'w.zip', media_type: 'application/zip', size: 4, sha256: '0'.repeat(64) })
    .returning('id');
  const [job] = await db('jobs')
    .insert({ kind: 'workspace-apply', queue: 'bulk', status: 'cancelled' })
    .returning('id');
  const [made] = await db('workspace_transfers')
    .insert({ filename: 'w.zip', status: 'applying', file_id: file.id, job_id: job.id })
    .returning('id');
  const { body } = await read(made.id);
  expect(body).toMatchObject({ status: 'failed', error_message: 'The job was cancelled.' });
  await ok(admin.delete(`${url}/import/${made.id}`), 204);
});
