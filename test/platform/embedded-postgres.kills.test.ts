import { existsSync, readdirSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  alive,
  end,
  madeFolder,
  type PostgresFolder,
  postgresFolder,
  query,
  ready,
  removeMade,
  until,
} from './fixtures/postgres-folder.ts';

let one: PostgresFolder;
afterEach(() => one.remove());
afterAll(removeMade);

const inFolder = (...parts: string[]) => existsSync(path.join(one.dataDir, ...parts));
const unfinished = () => readdirSync(one.dataDir).find((name) => /^postgres\.new-\w+$/.test(name));

/** What tells how far a first start has come, in order. */
const stages: [string, () => boolean][] = [
  ['its folder is begun', () => unfinished() !== undefined],
  ['initdb writes', () => unfinished() !== undefined && inFolder(unfinished()!, 'postgresql.conf')],
  ['initdb has a catalogue', () => unfinished() !== undefined && inFolder(unfinished()!, 'base', '1')],
  ['the password is kept', () => inFolder('postgres.json')],
  ['the cluster has its name', () => inFolder('postgres')],
  ['the server begins', () => inFolder('postgres', 'postmaster.pid')],
];

/** Breaks the server off together with the process that uses it, as a power cut would. */
async function cutPower(child: ReturnType<PostgresFolder['open']>): Promise<void> {
  const { pid } = one.server();
  await end(child, 'SIGKILL');
  process.kill(pid, 'SIGKILL');
  await until(() => !alive(pid));
}
const keep = (url: string) => query(url, 'create table kept as select 1 as n');
const expectKept = async (url: string) => expect(await query(url, 'select * from kept')).toEqual([{ n: 1 }]);
const pidFile = () => path.join(one.dataDir, 'postgres', 'postmaster.pid');
async function giveAwayPid(pid: number): Promise<void> {
  const [, ...rest] = (await readFile(pidFile(), 'utf8')).split('\n');
  await writeFile(pidFile(), [pid, ...rest].join('\n'));
}

describe('embedded PostgreSQL survives at its first start', () => {
  beforeEach(async () => {
    one = await postgresFolder();
  });

  it.each(stages)('SIGKILL, when %s', async (_stage, reached) => {
    const first = one.open('exclusive');
    await until(reached);
    await end(first, 'SIGKILL');
    const url = await ready(one.open('exclusive'));
    await keep(url);
    await expectKept(url);
    expect((await readdir(one.dataDir)).filter((name) => name.startsWith('postgres.new-'))).toEqual([]);
  });

  it.each(stages)('SIGTERM, when %s, and nothing is left running', async (_, reached) => {
    const first = one.open('exclusive');
    await until(reached);
    expect((await end(first, 'SIGTERM')).code).toBe(0);
    await until(() => one.server().state !== 'running');
    await ready(one.open('exclusive'));
  });
});

describe('embedded PostgreSQL survives', () => {
  beforeEach(async () => {
    one = await madeFolder();
  });

  it('SIGKILL at random moments of start, use and stop', async () => {
    let written = 0;
    const first = one.open('exclusive');
    await query(await ready(first), 'create table kept (n int)');
    await end(first, 'SIGTERM');
    for (let round = 0; round < 10; round += 1) {
      const child = one.open('exclusive');
      if (round % 2 === 0) {
        await query(await ready(child), 'insert into kept values (1)');
        written += 1;
        child.kill('SIGTERM');
      }
      // the moment is what is tried: between nothing and well after the work is done
      await pause(Math.random() * (round % 2 === 0 ? 150 : 1_500));
      await end(child, 'SIGKILL');
    }
    const last = one.open('exclusive');
    expect(await query(await ready(last), 'select count(*)::int as n from kept')).toEqual([{ n: written }]);
  });

  it('SIGKILL, and goes on for the next process', async () => {
    const first = one.open('exclusive');
    const url = await ready(first);
    await keep(url);
    const { pid } = one.server();
    await end(first, 'SIGKILL');
    expect(await ready(one.open('exclusive'))).toBe(url);
    expect(one.server().pid).toBe(pid);
    await expectKept(url);
  });

  it('SIGKILL of its own process, and comes back for those that use it', async () => {
    const url = await ready(one.open());
    await keep(url);
    process.kill(one.server().pid, 'SIGKILL');
    await until(() =>
      query(url, 'select * from kept').then(
        (rows) => rows.length === 1,
        () => false,
      ),
    );
  });

  /** Uses the folder's server and cuts the power. */
  async function useAndCut() {
    const first = one.open();
    await keep(await ready(first));
    await cutPower(first);
  }

  it.each([
    ['also when the pid is by then another program', () => giveAwayPid(process.pid)],
    ['that left the pid file empty', () => writeFile(pidFile(), '')],
  ])('a power cut, %s', async (_, change) => {
    await useAndCut();
    await change();
    await expectKept(await ready(one.open()));
  });

  it('a power cut, also when the pid is by then the server of another folder', async () => {
    await useAndCut();
    const other = await madeFolder();
    onTestFinished(() => other.remove());
    await ready(other.open());
    await giveAwayPid(other.server().pid);
    await expectKept(await ready(one.open()));
    expect(alive(other.server().pid)).toBe(true);
  });
});
