// @redis
import { startWorkers } from '../../../workers/runtime.ts';
import { startSftp } from '../../emulators/sftp.ts';
import { closeAfterAll, expectInvalid, ok, openApp } from '../../support/harness.ts';
import { until } from '../../support/until.ts';
import { base, folderOf, nightly, runNow } from './extractions.fixture.ts';

const { t, db, member, admin } = await openApp(['member', 'admin'], { OUTBOUND_ALLOW: '127.0.0.1:*' });
closeAfterAll(await startWorkers(t.services));
const server = closeAfterAll(await startSftp());
await member.post('/api/v1/cards', { type: 'Application', name: 'One' });

afterEach(() => {
  server.fault = () => undefined;
  server.files.clear();
});

const create = async (more: object = {}) =>
  await member.create(base, nightly({ destination: folderOf(server, more) }));
const names = () => [...server.files.keys()].toSorted();

it('delivers extractions and reports to a folder, and removes what exceeds the retention', async () => {
  const { id } = await create();
  const run = await runNow(t, member, id);
  const own = [`/in/${run.file_name}`, `/in/${run.file_name.replace('.csv', '.manifest.json')}`];
  expect(names()).toEqual([...own, '/in/latest.csv', '/in/latest.manifest.json'].toSorted());
  expect(server.files.get('/in/latest.csv')!.toString()).toContain('One');
  await member.patch(`${base}/${id}`, { keep_runs: 1 });
  await runNow(t, member, id);
  await until('the old files to be removed', async () => !names().some((name) => own.includes(name)));
  const saved = await member.create('/api/v1/saved-reports', {
    name: 'Landscape',
    report_type: 'landscape',
    config: { path: '/reports/landscape', search: {} },
  });
  const { request: _, ...report } = nightly({
    report: { saved_report_id: saved.id, format: 'svg' },
    destination: folderOf(server),
  }) as Record<string, unknown>;
  await runNow(t, member, (await member.create(base, report)).id);
  expect(server.files.get('/in/latest.svg')!.toString()).toContain('<svg');
});

it('sends nothing to a server whose key has changed, and says which one it has', async () => {
  const { id } = await create();
  await runNow(t, member, id);
  const other = `SHA256:${'B'.repeat(43)}`;
  await db('extraction_schedules')
    .where({ id })
    .update({ destination: db.raw(`destination || ?::jsonb`, [JSON.stringify({ host_key: other })]) });
  server.requests.length = 0;
  const { error } = await runNow(t, member, id, 'failed');
  expect(error.code).toBe('storage_refused');
  expect(error.message).toContain(`has the host key ${server.hostKey} (ssh-ed25519)`);
  expect(server.requests).toEqual([]);
});

it('tries again when the connection breaks', async () => {
  const { id } = await create();
  let breaks = 0;
  server.fault = (operation) => {
    if (operation !== 'RENAME' || breaks > 0) return undefined;
    breaks += 1;
    return 'drop';
  };
  const run = await runNow(t, member, id);
  expect([run.status, run.attempts, names().length]).toEqual(['succeeded', 2, 4]);
});

it('shows no secret, keeps it when it is sent back masked, and asks for it when it would go elsewhere', async () => {
  const made = await create();
  expect(made.destination).toMatchObject({ kind: 'sftp', port: server.port, password: '********' });
  const kept = await member.patch(`${base}/${made.id}`, {
    destination: { ...made.destination, folder: '/in' },
  });
  expect(kept.body.destination).toEqual(made.destination);
  await runNow(t, member, made.id);
  const { password: _, ...bare } = made.destination;
  for (const more of [
    { host: 'files.example.com', port: 22 },
    { port: server.port + 1 },
    { username: 'b' },
    { host_key: `SHA256:${'C'.repeat(43)}` },
  ]) {
    await expectInvalid(
      admin.patch(`${base}/${made.id}`, { destination: { ...bare, ...more } }),
      'destination.password secret_needed',
    );
  }
  const key = await ok(
    member.patch(`${base}/${made.id}`, { destination: { ...bare, private_key: server.privateKey } }),
    200,
  );
  expect(key.destination).toEqual({ ...bare, private_key: '********' });
  expect((await runNow(t, member, made.id)).status).toBe('succeeded');
  const { rows } = await db.raw(`select to_jsonb(e) #>> '{}' as text from events e union all
    select to_jsonb(s) #>> '{}' from extraction_schedules s`);
  for (const { text } of rows) {
    expect(text).not.toContain(server.password);
    expect(text).not.toContain('OPENSSH PRIVATE KEY');
  }
});

it.each([
  [{ host_key: undefined }, 'destination.host_key required'],
  [{ host: '10.0.0.1' }, 'destination.host refused_address'],
  [{ host: '127.0.0.1', bucket: 'warehouse' }, 'destination.bucket unknown_field'],
  [{ password: undefined }, 'destination.password secret_needed'],
  [{ password: undefined, passphrase: 'a' }, 'destination.private_key secret_needed'],
  [{ private_key: 'a' }, 'destination.password not_offered'],
  [{ password: undefined, private_key: 'a' }, 'destination.private_key format'],
] as [object, string][])('is refused with %j', async (more, fault) => {
  await expectInvalid(member.post(base, nightly({ destination: folderOf(server, more) })), fault);
});
