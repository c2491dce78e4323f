import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Child, startChild } from '../support/child.ts';

const fixture = path.join(import.meta.dirname, 'fixtures/open-postgres.ts');
let folder: string;
let children: Child[] = [];

beforeEach(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'estate-pg-'));
});
afterEach(async () => {
  for (const child of children) child.kill('SIGTERM');
  await Promise.all(children.map((child) => child.ended()));
  children = [];
  await stopLeftOver();
  await rm(folder, { recursive: true, force: true });
});

const open = (...args: string[]) => {
  const child = startChild(fixture, [folder, ...args]);
  children.push(child);
  return child;
};
const ready = async (child: Child) => (await child.until(/ready (\S+)/))[1]!;

async function serverPid(): Promise<number | undefined> {
  const text = await readFile(path.join(folder, 'postgres/postmaster.pid'), 'utf8').catch(() => '');
  return Number.parseInt(text, 10) || undefined;
}
const alive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};
async function stopLeftOver(): Promise<void> {
  const pid = await serverPid();
  if (pid && alive(pid)) process.kill(pid, 'SIGQUIT');
}

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('embedded PostgreSQL', () => {
  it('is made, keeps what is stored, and leaves no process behind', async () => {
    const first = open('exclusive');
    await query(await ready(first), 'create table kept as select 42 as answer');
    const pid = (await serverPid())!;
    first.kill('SIGTERM');
    expect((await first.ended()).code).toBe(0);
    expect(alive(pid)).toBe(false);
    const second = open('exclusive');
    expect(await query(await ready(second), 'select * from kept')).toEqual([{ answer: 42 }]);
  });

  it('is adopted after its process was killed', async () => {
    const first = open('exclusive');
    const url = await ready(first);
    await query(url, 'create table kept as select 1 as n');
    const pid = await serverPid();
    first.kill('SIGKILL');
    await first.ended();
    const second = open('exclusive');
    expect(await ready(second)).toBe(url);
    expect(await serverPid()).toBe(pid);
    expect(await query(url, 'select * from kept')).toEqual([{ n: 1 }]);
  });

  it('recovers when server and process were killed together, also when the pid was given away', async () => {
    const first = open();
    await query(await ready(first), 'create table kept as select 1 as n');
    const pid = (await serverPid())!;
    first.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await first.ended();
    const file = path.join(folder, 'postgres/postmaster.pid');
    const lines = (await readFile(file, 'utf8')).split('\n');
    await writeFile(file, [String(process.pid), ...lines.slice(1)].join('\n'));
    const second = open();
    expect(await query(await ready(second), 'select * from kept')).toEqual([{ n: 1 }]);
  });

  it('comes up after a kill at any moment of start and stop', async () => {
    // moments spread over making the cluster (about a second), starting and stopping
    for (const moment of [60, 200, 400, 700, 1000, 1400]) {
      const child = open('exclusive');
      await new Promise((resolve) => setTimeout(resolve, moment));
      if (moment % 200 === 0) child.kill('SIGTERM');
      child.kill('SIGKILL');
      await child.ended();
    }
    const last = open('exclusive');
    expect(await query(await ready(last), 'select 1 as n')).toEqual([{ n: 1 }]);
    const left = execFileSync('ls', [folder]).toString();
    expect(left).not.toContain('postgres.new-');
  });

  it('is shared by several processes; the last that leaves stops it', async () => {
    const [one, two] = [open(), open()];
    expect(await ready(one)).toBe(await ready(two));
    const pid = (await serverPid())!;
    one.kill('SIGTERM');
    await one.ended();
    expect(alive(pid)).toBe(true);
    two.kill('SIGTERM');
    await two.ended();
    expect(alive(pid)).toBe(false);
  });

  it('refuses a folder in use, in one sentence', async () => {
    await ready(open('exclusive'));
    const second = await open('exclusive').ended();
    expect(second.code).toBe(1);
    expect(second.output).toMatch(/^\S*estate-pg-\w+ is in use by another "npm start": [^\n]*DATA_DIR\.\n$/);
  });

  it('refuses a folder of another major version', async () => {
    await mkdir(path.join(folder, 'postgres'));
    await writeFile(path.join(folder, 'postgres/PG_VERSION'), '16\n');
    const { code, output } = await open().ended();
    expect(code).toBe(1);
    expect(output).toMatch(/made by PostgreSQL 16 and this program brings 18: [^\n]*\.\n$/);
  });

  it('says in one sentence that the folder is a file, or may not be written', async () => {
    const file = path.join(folder, 'file');
    await writeFile(file, '');
    const asFile = startChild(fixture, [file]);
    const { code, output } = await asFile.ended();
    expect([code, output]).toEqual([
      1,
      `${file} is a file where a folder is needed: choose another folder with DATA_DIR.\n`,
    ]);
    const guarded = path.join(folder, 'guarded');
    await mkdir(guarded);
    await chmod(folder, 0o755);
    await chmod(guarded, 0o555);
    // root may write anywhere, so root tries as somebody else
    const asUser = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const forbidden = startChild(fixture, [guarded], {}, asUser);
    const refused = await forbidden.ended();
    expect(refused.code).toBe(1);
    expect(refused.output).toBe(
      `${guarded} may not be written by this user: give the right or choose another folder with DATA_DIR.\n`,
    );
  });

  it('says in one sentence that the disk is full', async () => {
    const small = path.join(folder, 'small');
    await mkdir(small);
    await chmod(folder, 0o755);
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=8m', 'tmpfs', small], { stdio: 'ignore' });
    } catch {
      // without the right to mount there is no full disk to be had; the mapping is tested by itself
      return;
    }
    try {
      await chmod(small, 0o755);
      const { code, output } = await startChild(fixture, [small]).ended();
      expect(code).toBe(1);
      expect(output).toMatch(
        /^The disk of \S+ is full: free some space or choose another folder with DATA_DIR\.\n$/,
      );
    } finally {
      execFileSync('umount', [small]);
    }
    expect(existsSync(small)).toBe(true);
  });
});
