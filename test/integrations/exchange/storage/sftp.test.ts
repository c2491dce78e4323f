import { createHash, randomBytes } from 'node:crypto';
import { Readable } from 'node:stream';
import { inspect } from 'node:util';
import ssh2 from 'ssh2';
import { type SftpOptions, sftpStorage } from '../../../../integrations/exchange/storage/sftp.ts';
import type { OutgoingFile, Storage } from '../../../../integrations/exchange/storage/storage.types.ts';
import { createOutbound } from '../../../../platform/outbound.ts';
import { startSftp } from '../../../emulators/sftp.ts';
import { closeAfterAll } from '../../../support/harness.ts';

const outbound = createOutbound(['127.0.0.1:*']);
const open: Storage[] = [];
const never = new AbortController().signal;

const server = closeAfterAll(await startSftp());
const allMethods = server.methods;

afterAll(() => outbound.close());
afterEach(() => {
  for (const storage of open.splice(0)) storage.close();
  server.fault = () => undefined;
  server.methods = allMethods;
  server.requests.length = 0;
  server.files.clear();
});

async function storage(more: Partial<SftpOptions> = {}): Promise<Storage> {
  const { host, port, username, password, folder, hostKey } = server;
  const made = await sftpStorage({ host, port, username, password, folder, hostKey, outbound, ...more });
  open.push(made);
  return made;
}

function file(name: string, content: Buffer): OutgoingFile {
  return {
    name,
    mediaType: 'text/csv',
    size: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    open: async () => Readable.from([content]),
  };
}

const small = file('small.csv', Buffer.from('a;b\n1;2\n'));
const content = randomBytes(1_500_017);
const large = file('large.csv', content);
const names = () => [...server.files.keys()];

describe('an SFTP server', () => {
  it('takes, publishes and gives up a file', async () => {
    const store = await storage();
    await store.put(small, never);
    expect(server.files.get('/in/small.csv')?.toString()).toBe('a;b\n1;2\n');
    await store.publish(small, 'latest.csv', never);
    // what is there already is replaced
    await store.publish({ ...file('next.csv', Buffer.from('next')) }, 'latest.csv', never);
    expect(server.files.get('/in/latest.csv')?.toString()).toBe('next');
    await store.remove(small.name);
    await store.remove(small.name);
    expect(names()).toEqual(['/in/latest.csv']);
  });

  it('shows a file under its name when it is complete, not before', async () => {
    const seen: string[] = [];
    server.fault = (operation) => {
      if (operation === 'WRITE' || operation === 'CLOSE') seen.push(...names());
      return undefined;
    };
    await (await storage()).put(large, never);
    expect(seen.length).toBeGreaterThan(40);
    expect(seen.filter((name) => !name.endsWith('.part'))).toEqual([]);
    expect(names()).toEqual(['/in/large.csv']);
    expect(server.files.get('/in/large.csv')?.equals(content)).toBe(true);
  });

  it('reads a file no faster than the server takes it', async () => {
    let read = 0;
    let written = 0;
    let most = 0;
    const block = Buffer.alloc(64 * 1024);
    server.fault = (operation) => {
      if (operation !== 'WRITE') return undefined;
      written += 32 * 1024;
      most = Math.max(most, read - written);
      return undefined;
    };
    const blocks = Readable.from(
      (async function* () {
        for (; read < 50 * block.length; read += block.length) yield block;
      })(),
    );
    const big = { ...large, size: 50 * block.length, open: async () => blocks };
    await (await storage()).put(big, never);
    expect(most).toBeLessThan(2 * 1024 * 1024);
  });

  it.each([
    ['a private key', { password: undefined, privateKey: server.privateKey }, ['publickey']],
    ['the password as an answer', {}, ['keyboard-interactive']],
  ] as const)('takes %s', async (_, more, methods) => {
    server.methods = [...methods];
    await (await storage(more)).put(small, never);
    expect(names()).toEqual(['/in/small.csv']);
  });

  it('removes what a killed process has left of the same file', async () => {
    const left = '1b9d6bcd-bbfd-4b2d-9b5d-ab8dfbbd4bed.part';
    const others = ['/in/large.csv.2', '/in/large.csv.part', `/in/other.csv.${left}`];
    for (const name of [`/in/large.csv.${left}`, ...others]) server.files.set(name, Buffer.from('left'));
    await (await storage()).put(large, never);
    expect(names()).toEqual([...others, '/in/large.csv']);
  });

  it('is written to where it does not list its folder', async () => {
    server.fault = (operation) => (operation === 'READDIR' ? 'PERMISSION_DENIED' : undefined);
    await (await storage()).put(small, never);
    expect(names()).toEqual(['/in/small.csv']);
  });

  it('stops at once, and leaves nothing half done', async () => {
    const stop = new AbortController();
    let blocks = 0;
    server.fault = (operation) => {
      if (operation === 'WRITE') blocks += 1;
      if (blocks === 3) stop.abort(new Error('stopped'));
      return undefined;
    };
    await expect((await storage()).put(large, stop.signal)).rejects.toThrow('stopped');
    expect(names()).toEqual([]);
    expect(blocks).toBeLessThan(60);
  });
});

describe('a login is refused', () => {
  const anotherKey = ssh2.utils.generateKeyPairSync('ed25519').private;
  it.each([
    [{ password: 'wrong' }, 'storage_refused', /refused the login: check the user name/],
    [{ username: 'another' }, 'storage_refused', /refused the login/],
    [{ password: undefined, privateKey: anotherKey }, 'storage_refused', /refused the login/],
    [{ password: undefined, privateKey: 'none' }, 'storage_refused', /private key cannot be read/],
    [{ host: '10.0.0.1' }, 'storage_refused', /10\.0\.0\.1:\d+ .*OUTBOUND_ALLOW/],
    [{ host: 'files.internal', port: 22 }, 'storage_refused', /not public/],
    [{ port: 1 }, 'upstream_failed', /could not be reached/],
  ] as [Partial<SftpOptions>, string, RegExp][])('with %j', async (more, code, message) => {
    await expect(storage(more)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it('by a server with another host key, which learns nothing', async () => {
    const tried: string[] = [];
    const impostor = await startSftp();
    Object.defineProperty(impostor, 'methods', {
      get: () => {
        tried.push('a login');
        return allMethods;
      },
    });
    await expect(storage({ port: impostor.port })).rejects.toMatchObject({
      code: 'storage_refused',
      message: `The SFTP server has the host key ${impostor.hostKey} (ssh-ed25519), not that of the schedule. Nothing was sent. Ask the administrator of the server; if the key is right, set host_key to it.`,
    });
    expect([tried, impostor.requests]).toEqual([[], []]);
    await impostor.close();
  });
});

describe('a write fails', () => {
  it.each([
    ['OPEN', 'PERMISSION_DENIED', 'storage_refused', /denies access: allow the login/],
    ['WRITE', 'FAILURE', 'upstream_failed', /check its free space and quota/],
    ['CLOSE', 'FAILURE', 'upstream_failed', /check its free space and quota/],
    ['RENAME', 'PERMISSION_DENIED', 'storage_refused', /denies access/],
    ['RENAME', 'FAILURE', 'upstream_failed', /free space/],
  ] as const)('at %s with %s, and leaves no partial file', async (operation, status, code, message) => {
    let blocks = 0;
    server.fault = (given) => {
      if (given === 'WRITE') blocks += 1;
      return given === operation && (given !== 'WRITE' || blocks > 20) ? status : undefined;
    };
    const store = await storage();
    await expect(store.put(large, never)).rejects.toMatchObject({
      code,
      message: expect.stringMatching(message),
    });
    expect(names()).toEqual([]);
    // and works again afterwards
    server.fault = () => undefined;
    await store.put(large, never);
    expect(server.files.get('/in/large.csv')?.equals(content)).toBe(true);
  });

  it('where the folder is missing', async () => {
    await expect((await storage({ folder: '/out' })).put(small, never)).rejects.toMatchObject({
      code: 'storage_refused',
      message: 'The folder does not exist on the SFTP server: create it, or name another.',
    });
  });

  it('when the connection is lost, and succeeds with the next', async () => {
    let blocks = 0;
    server.fault = (operation) => {
      if (operation === 'WRITE') blocks += 1;
      return blocks === 30 ? 'drop' : undefined;
    };
    await expect((await storage()).put(large, never)).rejects.toMatchObject({
      code: 'upstream_failed',
      message: 'The connection to the SFTP server was lost.',
    });
    expect(names().map((name) => name.replace(/[0-9a-f-]{36}/, 'id'))).toEqual(['/in/large.csv.id.part']);
    server.fault = () => undefined;
    await (await storage()).put(large, never);
    expect(names()).toEqual(['/in/large.csv']);
  });

  it('when the server does not respond any more', async () => {
    server.fault = (operation) => (operation === 'WRITE' ? 'hang' : undefined);
    const store = await storage({ idleMs: 1_000 });
    await expect(store.put(large, never)).rejects.toMatchObject({
      code: 'upstream_failed',
      message: 'The connection to the SFTP server was lost.',
    });
  });

  it('when the local file cannot be read, which is no error of the server', async () => {
    const store = await storage();
    const lost = new Error('the disk is lost');
    const read = () =>
      Readable.from(
        (async function* () {
          yield Buffer.from('a');
          throw lost;
        })(),
      );
    await expect(store.put({ ...small, open: async () => read() }, never)).rejects.toBe(lost);
    await expect(store.put({ ...small, open: () => Promise.reject(lost) }, never)).rejects.toBe(lost);
    await expect(store.put({ ...small, size: 7 }, never)).rejects.toMatchObject({ code: 'upstream_failed' });
    expect(names()).toEqual([]);
  });

  it('without any secret in the error', async () => {
    const secret = 'canary password';
    const met = await storage({ password: secret }).catch((reason: unknown) => reason);
    expect(inspect(met, { depth: null, showHidden: true })).not.toContain(secret);
  });
});
