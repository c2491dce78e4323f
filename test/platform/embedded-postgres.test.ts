import { cp, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import {
  alive,
  end,
  madeFolder,
  type PostgresFolder,
  postgresFolder,
  query,
  ready,
  removeMade,
} from './fixtures/postgres-folder.ts';

let one: PostgresFolder;
afterEach(() => one.remove());
afterAll(removeMade);

it('is made, keeps what is stored, and leaves no process behind', async () => {
  one = await postgresFolder();
  const first = one.open('exclusive');
  await query(await ready(first), 'create table kept as select 42 as answer');
  const { pid } = one.server();
  expect((await end(first, 'SIGTERM')).code).toBe(0);
  expect(alive(pid)).toBe(false);
  expect(await readdir(path.join(one.dataDir, 'postgres.users'))).toEqual([]);
  expect(await query(await ready(one.open('exclusive')), 'select * from kept')).toEqual([{ answer: 42 }]);
});

it('stores safely, in one encoding and order, behind a password that only the owner can read', async () => {
  one = await madeFolder();
  const url = await ready(one.open());
  const [settings] = await query(
    url,
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
        current_setting('server_encoding') as encoding, datcollate as collation, datctype as letters,
        current_setting('autovacuum') as autovacuum, current_setting('jit') as jit,
        current_setting('listen_addresses') as addresses, lower('ÄÉŁ') as lower
      from pg_database where datname = current_database()`,
  );
  expect(settings).toEqual({
    fsync: 'on',
    commit: 'on',
    encoding: 'UTF8',
    collation: 'C.UTF-8',
    letters: 'C.UTF-8',
    autovacuum: 'on',
    jit: 'off',
    addresses: '127.0.0.1',
    lower: 'äéł',
  });
  const file = path.join(one.dataDir, 'postgres.json');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(JSON.parse(await readFile(file, 'utf8')).url).toBe(url);
  const stranger = new URL(url);
  stranger.password = 'guessed';
  await expect(query(stranger.href, 'select 1')).rejects.toThrow(/password authentication failed/);
});

it('is shared by several processes; the last that leaves stops it', async () => {
  one = await madeFolder();
  const [first, second] = [one.open(), one.open()];
  expect(await ready(first)).toBe(await ready(second));
  const { pid } = one.server();
  await end(first, 'SIGTERM');
  expect(alive(pid)).toBe(true);
  await end(second, 'SIGTERM');
  expect(alive(pid)).toBe(false);
});

it('is stopped by the last that leaves, also when others were killed', async () => {
  one = await madeFolder();
  const [first, second] = [one.open(), one.open()];
  await Promise.all([ready(first), ready(second)]);
  const { pid } = one.server();
  await end(first, 'SIGKILL');
  expect(alive(pid)).toBe(true);
  await end(second, 'SIGINT');
  expect(alive(pid)).toBe(false);
});

it('stands in a folder whose parents are closed to others', async () => {
  one = await postgresFolder();
  const closed = path.join(one.dataDir, 'closed');
  await mkdir(closed, { mode: 0o700 });
  const inside = await postgresFolder(path.join(closed, 'data'));
  onTestFinished(() => inside.remove());
  const child = inside.open();
  expect(await query(await ready(child), 'select 1 as n')).toEqual([{ n: 1 }]);
  expect((await end(child, 'SIGTERM')).code).toBe(0);
  expect((await stat(closed)).mode & 0o777).toBe(0o700);
});

it('is not taken for the server of a copy of its folder', async () => {
  one = await madeFolder();
  const url = await ready(one.open());
  const copy = await postgresFolder();
  try {
    await cp(one.dataDir, copy.dataDir, { recursive: true });
    const other = await ready(copy.open());
    expect(other).not.toBe(url);
    await query(url, 'create table mine as select 1');
    expect(await query(other, `select to_regclass('mine') as mine`)).toEqual([{ mine: null }]);
  } finally {
    await copy.remove();
  }
});

it('takes another port when its own has gone to another server', async () => {
  one = await madeFolder();
  const first = one.open();
  await query(await ready(first), 'create table kept as select 1 as n');
  await end(first, 'SIGTERM');
  const other = await madeFolder();
  onTestFinished(() => other.remove());
  await ready(other.open());
  const file = path.join(one.dataDir, 'postgres.json');
  const access = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...access, port: other.server().port }));
  expect(await query(await ready(one.open()), 'select * from kept')).toEqual([{ n: 1 }]);
});
