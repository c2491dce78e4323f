import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import { type SftpOptions, sftpStorage } from '../../../../integrations/exchange/storage/sftp.ts';
import type { OutgoingFile } from '../../../../integrations/exchange/storage/storage.types.ts';
import { sha256 } from '../../../../platform/crypto.ts';
import { createOutbound } from '../../../../platform/outbound.ts';
import { privateKeyFault } from '../../../../platform/ssh-keys.ts';
import { closeAfterAll } from '../../../support/harness.ts';
import { until } from '../../../support/until.ts';

/* The server of OpenSSH, with a configuration, keys and a port of the test's own. */

const SSHD = '/usr/sbin/sshd';
const PASSPHRASE = 'a passphrase of the test';
const run = promisify(execFile);
const never = new AbortController().signal;
const outbound = createOutbound(['127.0.0.1:*']);

await run(SSHD, ['-V']).catch((error) => {
  throw new Error('sshd is missing: install openssh-server, as .ci/run does', { cause: error });
});

const home = await mkdtemp(path.join(os.tmpdir(), 'estate-sshd-'));
const folder = path.join(home, 'incoming');
await mkdir(folder);

async function keyPair(name: string, type: string, passphrase = ''): Promise<string> {
  const file = path.join(home, name);
  await run('ssh-keygen', ['-q', '-t', type, '-N', passphrase, '-f', file]);
  return file;
}

/** As people read it from the server. */
async function fingerprintOf(key: string): Promise<string> {
  return (await run('ssh-keygen', ['-l', '-f', `${key}.pub`])).stdout.split(' ')[1]!;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function startSshd(hostKeys: string[]) {
  // where it separates privileges
  if (process.getuid?.() === 0) await mkdir('/run/sshd', { recursive: true, mode: 0o755 });
  const port = await freePort();
  const config = path.join(home, 'sshd_config');
  const lines = [
    `Port ${port}`,
    'ListenAddress 127.0.0.1',
    ...hostKeys.map((key) => `HostKey ${key}`),
    `AuthorizedKeysFile ${home}/authorized_keys`,
    'StrictModes no',
    'UsePAM no',
    'PidFile none',
    'PermitRootLogin prohibit-password',
    'PasswordAuthentication no',
    'Subsystem sftp internal-sftp',
  ];
  await writeFile(config, `${lines.join('\n')}\n`);
  const server = spawn(SSHD, ['-D', '-e', '-f', config], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  server.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await until('sshd to listen', async () => {
    if (server.exitCode !== null) throw new Error(`sshd ended: ${said}`);
    return said.includes('Server listening');
  });
  return {
    port,
    close: async () => {
      if (server.exitCode !== null) return;
      server.kill();
      await once(server, 'exit');
    },
  };
}

const hostKeys = { ed25519: await keyPair('host_ed25519', 'ed25519'), rsa: await keyPair('host_rsa', 'rsa') };
const userKey = await keyPair('user', 'ed25519', PASSPHRASE);
await copyFile(`${userKey}.pub`, path.join(home, 'authorized_keys'));
const sshd = closeAfterAll(await startSshd(Object.values(hostKeys)));

const options: SftpOptions = {
  host: '127.0.0.1',
  port: sshd.port,
  username: os.userInfo().username,
  folder,
  hostKey: await fingerprintOf(hostKeys.ed25519),
  privateKey: await readFile(userKey, 'utf8'),
  passphrase: PASSPHRASE,
  outbound,
};

afterAll(async () => {
  await outbound.close();
  await rm(home, { recursive: true, force: true });
});
beforeEach(async () => {
  for (const name of await readdir(folder)) await rm(path.join(folder, name));
});

/** A file of one repeated byte, which is not held in memory. */
function file(name: string, size: number, byte: string): OutgoingFile {
  const block = Buffer.alloc(64 * 1024, byte);
  async function* blocks() {
    for (let left = size; left > 0; left -= block.length) yield block.subarray(0, left);
  }
  return { name, mediaType: 'text/csv', size, sha256: '', open: async () => Readable.from(blocks()) };
}

it('takes, publishes, replaces and gives up files', async () => {
  const store = await sftpStorage(options);
  await store.put(file('cards.csv', 1_000_003, 'a'), never);
  await store.publish(file('cards.csv', 1_000_003, 'a'), 'latest.csv', never);
  await store.publish(file('next.csv', 5, 'b'), 'latest.csv', never);
  expect((await readdir(folder)).toSorted()).toEqual(['cards.csv', 'latest.csv']);
  expect(sha256(await readFile(path.join(folder, 'cards.csv')))).toBe(sha256('a'.repeat(1_000_003)));
  expect(await readFile(path.join(folder, 'latest.csv'), 'utf8')).toBe('bbbbb');
  await store.remove('cards.csv');
  await store.remove('cards.csv');
  expect(await readdir(folder)).toEqual(['latest.csv']);
  store.close();
});

it('never shows half a file to a reader', async () => {
  const size = 8 * 1024 * 1024;
  const store = await sftpStorage(options);
  const target = path.join(folder, 'latest.csv');
  await store.put(file('latest.csv', size, 'a'), never);
  const seen = new Set<string>();
  let isDone = false;
  const reading = (async () => {
    while (!isDone) {
      const content = await readFile(target);
      seen.add(`${content.length} ${String.fromCharCode(content[0]!, content.at(-1)!)}`);
    }
  })();
  for (const byte of ['b', 'c', 'd']) await store.put(file('latest.csv', size, byte), never);
  isDone = true;
  await reading;
  const whole = ['aa', 'bb', 'cc', 'dd'].map((ends) => `${size} ${ends}`);
  expect([...seen].filter((one) => !whole.includes(one))).toEqual([]);
  store.close();
});

it('is refused with another key of the server, with a wrong key of the login, and in a missing folder', async () => {
  const rsa = await fingerprintOf(hostKeys.rsa);
  await expect(sftpStorage({ ...options, hostKey: rsa })).rejects.toMatchObject({
    code: 'storage_refused',
    message: expect.stringContaining(`has the host key ${options.hostKey} (ssh-ed25519)`),
  });
  const other = await readFile(await keyPair('other', 'rsa'), 'utf8');
  await expect(sftpStorage({ ...options, privateKey: other })).rejects.toMatchObject({
    code: 'storage_refused',
    message: expect.stringContaining('refused the login'),
  });
  const store = await sftpStorage({ ...options, folder: path.join(home, 'missing') });
  await expect(store.put(file('a.csv', 5, 'a'), never)).rejects.toMatchObject({
    code: 'storage_refused',
    message: expect.stringContaining('folder does not exist'),
  });
  store.close();
});

it('replaces a partial file of a lost connection at the next attempt', async () => {
  const broken = await sftpStorage(options);
  const stopped = file('cards.csv', 4 * 1024 * 1024, 'a');
  const lost = {
    ...stopped,
    open: async () => {
      async function* blocks() {
        yield Buffer.alloc(1024 * 1024, 'a');
        // the partial file is there, and the process of the connection is gone
        await until('the partial file', async () => (await readdir(folder)).length > 0);
        broken.close();
        yield Buffer.alloc(3 * 1024 * 1024, 'a');
      }
      return Readable.from(blocks());
    },
  };
  await expect(broken.put(lost, never)).rejects.toMatchObject({ code: 'upstream_failed' });
  expect((await readdir(folder)).map((name) => name.replace(/[0-9a-f-]{36}/, 'id'))).toEqual([
    'cards.csv.id.part',
  ]);
  const store = await sftpStorage(options);
  await store.put(stopped, never);
  expect(await readdir(folder)).toEqual(['cards.csv']);
  store.close();
});

it('holds no more of a large file in memory than what is under way', async () => {
  const size = 256 * 1024 * 1024;
  const store = await sftpStorage(options);
  const before = process.memoryUsage().arrayBuffers;
  let most = 0;
  const big = file('big.csv', size, 'a');
  const watched = {
    ...big,
    open: async () => {
      const content = await big.open();
      content.on('data', () => {
        most = Math.max(most, process.memoryUsage().arrayBuffers - before);
      });
      content.pause();
      return content;
    },
  };
  await store.put(watched, never);
  expect((await readFile(path.join(folder, 'big.csv'))).length).toBe(size);
  // what the collector has not freed yet included
  expect(most).toBeLessThan(96 * 1024 * 1024);
  store.close();
}, 120_000);

it('has private keys whose passphrase is asked for', async () => {
  const key = options.privateKey!;
  expect(await privateKeyFault(key, PASSPHRASE)).toBeUndefined();
  expect(await privateKeyFault(key, undefined)).toContain('needs its passphrase');
  expect(await privateKeyFault(key, 'another')).toContain('needs its passphrase');
  expect(await privateKeyFault(await readFile(`${userKey}.pub`, 'utf8'), undefined)).toBe(
    'is not a private key',
  );
  expect(await privateKeyFault('nothing', undefined)).toContain('ssh-keygen');
});
