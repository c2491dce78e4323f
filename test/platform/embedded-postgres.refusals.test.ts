import { execFileSync } from 'node:child_process';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { startChild } from '../support/child.ts';
import {
  alive,
  end,
  madeFolder,
  type PostgresFolder,
  postgresFolder,
  ready,
  removeMade,
  until,
} from './fixtures/postgres-folder.ts';

let one: PostgresFolder;
afterEach(() => one.remove());
afterAll(removeMade);

const fixture = path.join(import.meta.dirname, 'fixtures/open-postgres.ts');
/** What a start in a folder says before it ends. */
const refusal = (dataDir: string, account = {}) => startChild(fixture, [dataDir], {}, account).ended();
const another = 'choose another folder with DATA_DIR.\n';

describe('embedded PostgreSQL refuses in one sentence', () => {
  beforeEach(async () => {
    one = await postgresFolder();
  });

  it('a folder of another major version', async () => {
    const folder = path.join(one.dataDir, 'postgres');
    await mkdir(folder);
    await writeFile(path.join(folder, 'PG_VERSION'), '16\n');
    expect(await refusal(one.dataDir)).toEqual({
      code: 1,
      output: `${folder} was created by PostgreSQL 16, but this release includes 18: move the data with pg_dump and pg_restore, or ${another}`,
    });
  });

  it('something else where its folder should be', async () => {
    const folder = path.join(one.dataDir, 'postgres');
    await mkdir(folder);
    expect(await refusal(one.dataDir)).toEqual({
      code: 1,
      output: `${folder} is not a PostgreSQL data folder: move it away or ${another}`,
    });
  });

  it('a data folder that is a file, or cannot be', async () => {
    const file = path.join(one.dataDir, 'file');
    await writeFile(file, '');
    expect(await refusal(file)).toEqual({
      code: 1,
      output: `${file} is a file where a folder is needed: ${another}`,
    });
    expect((await refusal(path.join(file, 'data'))).output).toContain('is a file where a folder is needed');
    // the kernel's own file systems let nobody make folders
    expect((await refusal('/proc/estate/data')).output).toMatch(/^\/proc\/estate [^\n]+ DATA_DIR\.\n$/);
  });

  it('a folder without the right to write', async () => {
    const guarded = path.join(one.dataDir, 'guarded');
    await mkdir(guarded);
    await chmod(one.dataDir, 0o755);
    await chmod(guarded, 0o555);
    // root may write anywhere, so root tries as somebody else
    expect(await refusal(guarded, process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {})).toEqual({
      code: 1,
      output: `${guarded} may not be written by this user: give the right or ${another}`,
    });
  });

  it('a full disk, at the first start and at a later one', async () => {
    const small = path.join(one.dataDir, 'small');
    await mkdir(small);
    const full = {
      code: 1,
      output: expect.stringMatching(/^The disk of \S+ is full: free some space or choose [^\n]*\.\n$/),
    };
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', small], { stdio: 'ignore' });
    } catch {
      // without the right to mount there is no full disk to be had; the sentence is tested by itself
      return;
    }
    try {
      expect(await refusal(small)).toEqual(full);
      execFileSync('mount', ['-o', 'remount,size=90m', small]);
      const inside = await postgresFolder(small);
      const first = inside.open();
      await ready(first);
      await end(first, 'SIGTERM');
      execFileSync('sh', ['-c', `cat /dev/zero > ${small}/ballast || true`], { stdio: 'ignore' });
      expect(await refusal(small)).toEqual(full);
      await rm(path.join(small, 'ballast'));
      const last = inside.open();
      await ready(last);
      await end(last, 'SIGTERM');
    } finally {
      execFileSync('umount', [small]);
    }
  });
});

describe('embedded PostgreSQL, where its cluster is, refuses in one sentence', () => {
  beforeEach(async () => {
    one = await madeFolder();
  });

  it('a folder in use', async () => {
    await ready(one.open('exclusive'));
    expect(await one.open('exclusive').ended()).toEqual({
      code: 1,
      output: `${one.dataDir} is in use by another "npm start": stop that one or ${another}`,
    });
  });

  it('a missing or damaged password', async () => {
    const first = one.open();
    await ready(first);
    await end(first, 'SIGTERM');
    const file = path.join(one.dataDir, 'postgres.json');
    const lost = (what: string) =>
      `${file} is ${what}, and with it the database's password: restore it from a backup.\n`;
    await writeFile(file, '{"port":');
    expect(await refusal(one.dataDir)).toEqual({ code: 1, output: lost('damaged') });
    await rm(file);
    expect(await refusal(one.dataDir)).toEqual({ code: 1, output: lost('missing') });
  });

  it('and leaves no server behind when something else fails after it', async () => {
    const child = one.open('failing');
    await ready(child);
    const { pid } = one.server();
    const { code, output } = await child.ended();
    expect(code).toBe(1);
    expect(output).toContain('Something else is missing: bring it.\n');
    // it was told to stop, and does so by itself
    await until(() => pid > 0 && !alive(pid));
  });
});
