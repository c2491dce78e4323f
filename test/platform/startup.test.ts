import { once } from 'node:events';
import { createServer } from 'node:net';
import path from 'node:path';
import { StartupError, startupMessage } from '../../platform/startup.ts';
import { startChild } from '../support/child.ts';
import { processesIn } from '../support/processes.ts';
import { postgresFolder, until } from './fixtures/postgres-folder.ts';

const fixture = path.join(import.meta.dirname, 'fixtures/fail.ts');
const failing = (how: string) => startChild(fixture, [how]).ended();
const fault = (code: string, where?: string) =>
  Object.assign(new Error('details that only confuse'), { code, ...(where ? { path: where } : {}) });

describe('a start that fails', () => {
  it('says one sentence and ends with code 1', async () => {
    expect(await failing('sentence')).toEqual({ code: 1, output: 'Port 1 is taken: choose another.\n' });
    expect(await failing('file')).toEqual({
      code: 1,
      output: `${fixture} is a file where a folder is needed: choose another folder with DATA_DIR.\n`,
    });
  });

  it('shows the whole error where the user cannot help', async () => {
    const { code, output } = await failing('bug');
    expect(code).toBe(1);
    expect(output).toMatch(/^Estate could not start: TypeError: .*\n\s+at .*fail\.ts/);
    expect(await failing('string')).toEqual({ code: 1, output: 'Estate could not start: thrown as text\n' });
  });

  it.each([
    ['ENOSPC', '/d', 'The disk of /d is full: free some space or choose another folder with DATA_DIR.'],
    [
      'ENOSPC',
      undefined,
      'The disk of the data folder is full: free some space or choose another folder with DATA_DIR.',
    ],
    [
      'EDQUOT',
      '/d',
      'The disk quota for /d is used up: free some space or choose another folder with DATA_DIR.',
    ],
    [
      'EACCES',
      '/d',
      '/d may not be written by this user: give the right or choose another folder with DATA_DIR.',
    ],
    [
      'EPERM',
      '/d',
      '/d may not be written by this user: give the right or choose another folder with DATA_DIR.',
    ],
    [
      'EROFS',
      '/d',
      '/d may not be written by this user: give the right or choose another folder with DATA_DIR.',
    ],
    ['ENOTDIR', '/d', '/d is a file where a folder is needed: choose another folder with DATA_DIR.'],
    ['28P01', undefined, 'The database refuses the login: check user and password in DATABASE_URL.'],
    ['3D000', undefined, 'The database named in DATABASE_URL does not exist: create it first.'],
    ['53100', undefined, "The database's disk is full: free some space."],
  ])('knows what to do about %s (%s)', (code, where, sentence) => {
    expect(startupMessage(fault(code, where))).toBe(sentence);
  });

  it('names only what the user can mend', () => {
    expect(startupMessage(new StartupError('Do this.'))).toBe('Do this.');
    expect(startupMessage(fault('42601'))).toBeUndefined();
    expect(startupMessage(new Error('unknown'))).toBeUndefined();
    expect(startupMessage(undefined)).toBeUndefined();
  });
});

describe('npm start', () => {
  const main = path.resolve(import.meta.dirname, '../../main.ts');

  it('refuses a wrong setting before it touches anything', async () => {
    const { code, output } = await startChild(main, [], { PORT: 'eighty', DATA_DIR: '/proc/estate' }).ended();
    expect([code, output]).toEqual([1, 'PORT is not valid: expected a whole number from 0 to 65535.\n']);
  });

  it('refuses a busy port and leaves no server behind', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as { port: number };
    const one = await postgresFolder();
    try {
      const child = startChild(main, [], {
        PORT: String(port),
        DATA_DIR: one.dataDir,
        DEMO: 'false',
        ADMIN_EMAIL: 'admin@estate.example',
        ADMIN_PASSWORD: 'a password of the test',
        LOG_LEVEL: 'silent',
      });
      expect(await child.ended()).toEqual({
        code: 1,
        output: `Port ${port} is in use: stop the other program or choose another with PORT.\n`,
      });
      await until(() => one.server().state === 'absent' && processesIn(one.dataDir).length === 0);
    } finally {
      other.close();
      await one.remove();
    }
  });
});
