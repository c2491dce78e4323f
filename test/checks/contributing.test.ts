import { globSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { startChild } from '../support/child.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { freePort, logIn, type Remote, untilReady } from '../support/processes.ts';
import { until } from '../support/until.ts';
import { type ExampleBlock, exampleBlocks, insertLines } from './contributing.ts';

const root = path.resolve(import.meta.dirname, '../..');
const admin = { email: 'admin@example.org', password: 'a quiet horse on the hill' };
const warranty = { provider: 'Example Hardware', ends_on: '2030-12-31' };

let blocks: ExampleBlock[];
let tree: string;
let database: TestDatabase;
let service: ReturnType<typeof startChild>;
let remote: Remote;

beforeAll(async () => {
  blocks = exampleBlocks(await readFile(path.join(root, 'CONTRIBUTING.md'), 'utf8'));
  tree = await mkdtemp(path.join(os.tmpdir(), 'estate-contributing-'));
  const sources = ['api', 'docs', 'domain', 'integrations', 'migrations', 'platform', 'reports', 'workers'];
  for (const name of [...sources, ...globSync('*.{ts,json}', { cwd: root })])
    await cp(path.join(root, name), path.join(tree, name), { recursive: true });
  await symlink(path.join(root, 'node_modules'), path.join(tree, 'node_modules'));
  for (const { file, text, isInsertion } of blocks) {
    const target = path.join(tree, file);
    await mkdir(path.dirname(target), { recursive: true });
    await writeFile(target, isInsertion ? insertLines(await readFile(target, 'utf8'), text) : text);
  }
  database = await createTestDatabase();
  const port = await freePort();
  service = startChild(path.join(tree, 'main.ts'), [], {
    HOST: '127.0.0.1',
    PORT: String(port),
    DATABASE_URL: database.url,
    DATA_DIR: path.join(tree, 'data'),
    SECRET_KEY: 'a-secret-key-for-tests-of-32-characters-or-more',
    ADMIN_EMAIL: admin.email,
    ADMIN_PASSWORD: admin.password,
    DEMO: 'false',
    LOG_LEVEL: 'warn',
  });
  const url = `http://127.0.0.1:${port}`;
  await untilReady(service, url);
  remote = await logIn(url, admin);
}, 120_000);

afterAll(async () => {
  service?.kill('SIGTERM');
  await service?.ended();
  await database?.drop();
  await rm(tree, { recursive: true, force: true });
});

const send = async (method: string, url: string, body?: unknown, status = 200) => {
  const answer = await remote.send(method, url, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(status);
  return answer;
};
const createCard = async (name: string): Promise<string> =>
  (await send('POST', '/cards', { type: 'Application', name }, 201)).body.id;
const addTo = async (card: string): Promise<string> =>
  (await send('POST', `/cards/${card}/warranties`, warranty, 201)).body.id;
const idsOf = async (card: string): Promise<string[]> =>
  (await send('GET', `/cards/${card}/warranties`)).body.items.map(({ id }: { id: string }) => id);
/** Undoes the last write. */
const undo = async () => {
  const { items } = (await send('GET', '/mutation-batches?sort_by=created_at&sort_dir=desc&page_size=1'))
    .body;
  await send('POST', `/mutation-batches/${items[0].id}/rollback`, { dry_run: false });
};

test('the example changes at most three existing files', () => {
  const changed = new Set(blocks.filter(({ isInsertion }) => isInsertion).map(({ file }) => file));
  expect(changed.size).toBeLessThanOrEqual(3);
});

test('rows are created, listed and deleted', async () => {
  const card = await createCard('Created');
  const id = await addTo(card);
  const { body } = await send('GET', `/cards/${card}/warranties`);
  expect(body).toMatchObject({ total: 1, items: [{ id, card_id: card, ...warranty }] });
  await send('POST', `/cards/${card}/warranties`, { provider: '', ends_on: 'soon' }, 422);
  await send('DELETE', `/warranties/${id}`, undefined, 204);
  await send('DELETE', `/warranties/${id}`, undefined, 404);
  expect(await idsOf(card)).toEqual([]);
  await undo();
  expect(await idsOf(card)).toEqual([id]);
});

test('rows are deleted with their card, and come back with it', async () => {
  const card = await createCard('Deleted');
  const id = await addTo(card);
  await send('POST', `/cards/${card}/archive`, {});
  await send('DELETE', `/cards/${card}`);
  const { items } = (await send('GET', '/events?event_type=warranty.deleted&page_size=1')).body;
  expect(items[0].data).toMatchObject({ id, card_name: 'Deleted' });
  await undo();
  expect(await idsOf(card)).toEqual([id]);
});

test('rows follow a merge, and its undo', async () => {
  const [survivor, merged] = [await createCard('Survivor'), await createCard('Merged')];
  const id = await addTo(merged);
  await send('POST', '/cards/merge', { survivor_id: survivor, merged_ids: [merged] });
  expect(await idsOf(survivor)).toEqual([id]);
  await undo();
  expect(await idsOf(merged)).toEqual([id]);
  expect(await idsOf(survivor)).toEqual([]);
});

test('rows go into archives of workspaces, and come out of them', async () => {
  const card = await createCard('Transferred');
  const id = await addTo(card);
  const { url, headers } = remote;
  const archive = await (await fetch(`${url}/api/v1/admin/workspace/export`, { headers })).blob();
  await send('DELETE', `/warranties/${id}`, undefined, 204);

  const form = new FormData();
  form.append('file', archive, 'workspace.zip');
  const upload = await fetch(`${url}/api/v1/admin/workspace/import`, { method: 'POST', headers, body: form });
  const place = `/admin/workspace/import/${((await upload.json()) as { id: string }).id}`;
  const untilStatus = (status: string) =>
    until(`the import to be ${status}`, async () => (await send('GET', place)).body.status === status);
  await untilStatus('previewed');
  await send('POST', `${place}/apply`, undefined, 202);
  await untilStatus('applied');
  expect(await idsOf(card)).toEqual([id]);
});
