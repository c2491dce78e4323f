import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { posix } from 'node:path';
import { promisify } from 'node:util';
import type { Client, SFTPWrapper } from 'ssh2';
import { EstateError } from '../../../platform/errors.ts';
import { type Outbound, OutboundRefusal } from '../../../platform/outbound.ts';
import { hostKeyFingerprint, hostKeyType } from '../../../platform/ssh-keys.ts';
import type { OutgoingFile, Storage } from './storage.types.ts';

export interface SftpOptions {
  host: string;
  port: number;
  username: string;
  /** Empty: the folder in which the login begins. */
  folder: string;
  /** The fingerprint of the only key that the server may have. */
  hostKey: string;
  password?: string | undefined;
  privateKey?: string | undefined;
  passphrase?: string | undefined;
  outbound: Pick<Outbound, 'connectSftp'>;
  /** Maximum time without any byte from or to the server; 60 s by default. */
  idleMs?: number;
}

const CONNECT_MS = 10_000;
const IDLE_MS = 60_000;
/** How long the server may take to clean up after a cancelled write. */
const CANCEL_MS = 5_000;
/** Every server takes packets of this size (draft-ietf-secsh-filexfer-02, section 3). */
const BLOCK_BYTES = 32 * 1024;
const BLOCKS_AT_ONCE = 16;

/** Status codes of draft-ietf-secsh-filexfer-02, section 7. */
const NO_SUCH_FILE = 2;
const PERMISSION_DENIED = 3;
const FAILURE = 4;

/**
 * Logs in to an SFTP server, if it has the expected host key. A file gets its name after it is complete.
 * @throws EstateError `storage_refused` for permanent errors, `upstream_failed` for temporary ones.
 */
export async function sftpStorage(options: SftpOptions): Promise<Storage> {
  const { sftp, answer, close, hurry } = await logIn(options);
  const pathOf = (name: string): string => posix.join(options.folder, name);
  const remove = async (path: string): Promise<void> => {
    await answer<unknown>((done) => sftp.unlink(path, done));
  };

  /** Removes partial files of a name that a killed process or a lost connection has left. */
  const removePartial = async (name: string): Promise<void> => {
    const entries = await answer<{ filename: string }[]>((done) =>
      sftp.readdir(options.folder || '.', done),
    ).catch((error) => {
      const status = statusOf(error);
      if (status === undefined || status === NO_SUCH_FILE) throw error;
      // a login may be allowed to write only
      return [];
    });
    for (const { filename } of entries) {
      const isPartial = filename.startsWith(`${name}.`) && PARTIAL.test(filename.slice(name.length));
      if (isPartial) await remove(pathOf(filename)).catch(() => undefined);
    }
  };

  /** Renames a file; the target is replaced. */
  const replace = async (from: string, to: string): Promise<void> => {
    try {
      await answer<unknown>((done) => sftp.ext_openssh_rename(from, to, done));
      return;
    } catch (error) {
      // without a status of the server, the library does not know its extension
      if (statusOf(error) !== undefined) throw error;
    }
    const rename = () => answer<unknown>((done) => sftp.rename(from, to, done));
    await rename().catch(async (error) => {
      // SFTP 3 does not replace, and has no status of its own for it
      if (statusOf(error) !== FAILURE) throw error;
      await remove(to).catch(() => {
        throw error;
      });
      await rename();
    });
  };

  const put = async (file: OutgoingFile, name: string, signal: AbortSignal): Promise<void> => {
    const target = pathOf(name);
    const partial = `${target}.${randomUUID()}.part`;
    const content = await file.open();
    signal.addEventListener('abort', hurry);
    try {
      await removePartial(name);
      const size = await write({ sftp, answer }, partial, content, signal);
      if (size !== file.size)
        throw new EstateError('upstream_failed', `The SFTP server stored ${size} of ${file.size} bytes.`);
      await replace(partial, target);
    } catch (error) {
      await remove(partial).catch(() => undefined);
      signal.throwIfAborted();
      throw error === content.errored ? error : publicFailure(error);
    } finally {
      signal.removeEventListener('abort', hurry);
      content.destroy();
    }
  };

  return {
    put: (file, signal) => put(file, file.name, signal),
    publish: put,
    async remove(name) {
      await remove(pathOf(name)).catch((error) => {
        if (statusOf(error) !== NO_SUCH_FILE) throw publicFailure(error);
      });
    },
    close,
  };
}

/** What partial files have behind their name. */
const PARTIAL = /^\.[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\.part$/;

const statusOf = (error: unknown): number | undefined => {
  const { code } = error as { code?: unknown };
  return typeof code === 'number' ? code : undefined;
};

/** Writes a new file, with several blocks under way. @returns its size on the server. */
async function write(
  { sftp, answer }: Pick<Session, 'sftp' | 'answer'>,
  path: string,
  content: AsyncIterable<Buffer>,
  signal: AbortSignal,
): Promise<number> {
  const handle = await answer<Buffer>((done) => sftp.open(path, 'wx', done));
  // those that have failed remain
  const pending = new Set<Promise<unknown>>();
  let position = 0;
  const send = (block: Buffer): void => {
    const from = position;
    position += block.length;
    const sent: Promise<unknown> = answer<unknown>((done) =>
      sftp.write(handle, block, 0, block.length, from, done),
    ).then(() => pending.delete(sent));
    sent.catch(() => undefined);
    pending.add(sent);
  };
  try {
    for await (const chunk of content) {
      for (let start = 0; start < chunk.length; start += BLOCK_BYTES) {
        signal.throwIfAborted();
        if (pending.size >= BLOCKS_AT_ONCE) await Promise.race(pending);
        send(chunk.subarray(start, start + BLOCK_BYTES));
      }
    }
    await Promise.all(pending);
  } catch (error) {
    await answer<unknown>((done) => sftp.close(handle, done)).catch(() => undefined);
    throw error;
  }
  // some servers report a full disk only now
  await answer<unknown>((done) => sftp.close(handle, done));
  const { size } = await answer<{ size: number }>((done) => sftp.stat(path, done));
  return size;
}

interface Session {
  sftp: SFTPWrapper;
  /** Waits for the answer to one request, which a lost connection never gives. */
  answer<T>(send: (done: (error: Error | null | undefined, value?: T) => void) => void): Promise<T>;
  close(): void;
  /** Ends the connection soon if the server does not respond. */
  hurry(): void;
}

async function logIn(options: SftpOptions): Promise<Session> {
  const { host, port, username, password, privateKey, passphrase, outbound } = options;
  // loaded on first use
  const { Client } = (await import('ssh2')).default;
  const idleMs = options.idleMs ?? IDLE_MS;
  const socket = await outbound.connectSftp({ host, port, timeoutMs: CONNECT_MS }).catch((error) => {
    if (error instanceof OutboundRefusal)
      throw new EstateError('storage_refused', error.message, { cause: error });
    throw unreachable();
  });
  socket.setNoDelay(true);
  socket.setTimeout(idleMs, () => socket.destroy());
  const client: Client = new Client();
  let found: Buffer | undefined;
  const isExpected = (key: Buffer): boolean => {
    found = key;
    return hostKeyFingerprint(key) === options.hostKey;
  };
  // servers that ask for the password as a question
  client.on('keyboard-interactive', (_name, _instructions, _language, prompts, finish) =>
    finish(password !== undefined && prompts.length === 1 ? [password] : []),
  );
  const lost = new Promise<never>((_, reject) => {
    client.on('error', reject);
    client.on('close', () => reject(unreachable()));
  });
  lost.catch(() => undefined);
  try {
    const ready = once(client, 'ready');
    client.connect({
      sock: socket,
      username,
      ...(password === undefined ? {} : { password, tryKeyboard: true }),
      ...(privateKey === undefined ? {} : { privateKey }),
      ...(passphrase === undefined ? {} : { passphrase }),
      readyTimeout: idleMs,
      hostVerifier: isExpected,
    });
    await Promise.race([ready, lost]);
  } catch (error) {
    socket.destroy();
    throw found && !isExpected(found) ? otherHostKey(found) : loginFailure(error);
  }
  try {
    const sftp: SFTPWrapper = await Promise.race([promisify(client.sftp.bind(client))(), lost]);
    const waiting = new Set<(error: Error) => void>();
    let isOpen = true;
    client.on('close', () => {
      isOpen = false;
      for (const reject of waiting) reject(new Error('the connection was lost'));
    });
    return {
      sftp,
      answer: async (send) => {
        let end: (error: Error) => void;
        try {
          return await new Promise((resolve, reject) => {
            end = reject;
            waiting.add(reject);
            if (!isOpen) reject(new Error('the connection was lost'));
            else send((error, value) => (error ? reject(error) : resolve(value as never)));
          });
        } finally {
          waiting.delete(end!);
        }
      },
      close: () => void client.end(),
      hurry: () => void socket.setTimeout(Math.min(CANCEL_MS, idleMs)),
    };
  } catch (error) {
    socket.destroy();
    if (error instanceof EstateError) throw error;
    throw new EstateError(
      'storage_refused',
      'The server does not offer SFTP to this login: enable its subsystem sftp.',
    );
  }
}

const unreachable = () => new EstateError('upstream_failed', 'The SFTP server could not be reached.');

function otherHostKey(found: Buffer): EstateError {
  return new EstateError(
    'storage_refused',
    `The SFTP server has the host key ${hostKeyFingerprint(found)} (${hostKeyType(found)}), not that of the schedule. Nothing was sent. Ask the administrator of the server; if the key is right, set host_key to it.`,
  );
}

/** Texts of a server can repeat what was sent: none is shown or stored, not even as the cause. */
function loginFailure(error: unknown): EstateError {
  if (error instanceof EstateError) return error;
  const { level, message } = error as Error & { level?: string };
  if (level === 'client-authentication') {
    return new EstateError(
      'storage_refused',
      'The SFTP server refused the login: check the user name, and the password or the private key.',
    );
  }
  if (message.startsWith('Cannot parse privateKey')) {
    return new EstateError(
      'storage_refused',
      'The private key cannot be read: give it again, with its passphrase.',
    );
  }
  if (message.startsWith('Handshake failed: no matching')) {
    return new EstateError(
      'storage_refused',
      'The SFTP server only offers outdated algorithms: enable current ones for keys, exchange and encryption.',
    );
  }
  return unreachable();
}

/** As {@link loginFailure}, of a request. */
function publicFailure(error: unknown): EstateError {
  if (error instanceof EstateError) return error;
  switch (statusOf(error)) {
    case undefined:
      return new EstateError('upstream_failed', 'The connection to the SFTP server was lost.');
    case NO_SUCH_FILE:
      return new EstateError(
        'storage_refused',
        'The folder does not exist on the SFTP server: create it, or name another.',
      );
    case PERMISSION_DENIED:
      return new EstateError(
        'storage_refused',
        'The SFTP server denies access: allow the login to create, rename and delete files in the folder.',
      );
    default:
      return new EstateError(
        'upstream_failed',
        'The SFTP server could not store the file: check its free space and quota.',
      );
  }
}
