import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ssh2, { type AuthContext, type Connection, type SFTPWrapper } from 'ssh2';
import { hostKeyFingerprint } from '../../platform/ssh-keys.ts';

/*
 * The part of SFTP 3 (draft-ietf-secsh-filexfer-02) that extractions use, without extensions: OPEN, WRITE, CLOSE, STAT,
 * OPENDIR, READDIR, REMOVE, RENAME, with files in memory. RENAME does not replace a file.
 */

const { Server, utils } = ssh2;
const { STATUS_CODE: STATUS, OPEN_MODE } = utils.sftp;

type Operation = 'OPEN' | 'WRITE' | 'CLOSE' | 'READDIR' | 'REMOVE' | 'RENAME';
/** What happens to a request instead of being executed: a status, no response, or the end of the connection. */
type Fault = keyof typeof STATUS | 'hang' | 'drop' | undefined;

export interface SftpEmulator {
  host: string;
  port: number;
  username: string;
  password: string;
  /** The only folder. */
  folder: string;
  hostKey: string;
  /** In the format of OpenSSH; the server accepts it. */
  privateKey: string;
  /** By path. */
  files: Map<string, Buffer>;
  /** `OPEN /in/a.csv` and the like, in order. */
  requests: string[];
  /** Methods by which somebody may log in. */
  methods: AuthContext['method'][];
  /** Called with each request before it is executed. */
  fault: (operation: Operation, path: string) => Fault;
  close(): Promise<void>;
}

/** A server of the test's own, on loopback. */
export async function startSftp(): Promise<SftpEmulator> {
  const key = utils.generateKeyPairSync('ed25519');
  const user = utils.generateKeyPairSync('ed25519');
  const connections = new Set<Connection>();
  const server = new Server({ hostKeys: [key.private] }, (client) => {
    connections.add(client);
    // missing in the types
    (client as Connection & { setNoDelay(): void }).setNoDelay();
    client.on('error', () => undefined).on('close', () => connections.delete(client));
    client.on('authentication', (auth) => authenticate(emulator, auth, user.public));
    client.on('session', (accept) => {
      accept().on('sftp', (acceptSftp) => serve(emulator, client, acceptSftp()));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const parsed = utils.parseKey(key.public);
  if (parsed instanceof Error) throw parsed;
  const emulator: SftpEmulator = {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    username: 'estate',
    password: 'a secret of the test',
    folder: '/in',
    hostKey: hostKeyFingerprint(parsed.getPublicSSH()),
    privateKey: user.private,
    files: new Map(),
    requests: [],
    methods: ['password', 'publickey', 'keyboard-interactive'],
    fault: () => undefined,
    close: async () => {
      for (const client of connections) client.end();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return emulator;
}

function authenticate(emulator: SftpEmulator, auth: AuthContext, publicKey: string): void {
  const { methods, username, password } = emulator;
  const end = (isAccepted: boolean): void => {
    if (isAccepted) auth.accept();
    else auth.reject(methods.filter((method) => method !== 'none'));
  };
  const isOffered = methods.includes(auth.method) && auth.username === username;
  if (isOffered && auth.method === 'keyboard-interactive') {
    auth.prompt([{ prompt: 'Password: ', echo: false }], ([given]: string[]) => end(given === password));
    return;
  }
  end(isOffered && isRight(auth, password, publicKey));
}

function isRight(auth: AuthContext, password: string, publicKey: string): boolean {
  if (auth.method === 'password') return auth.password === password;
  const allowed = utils.parseKey(publicKey);
  if (auth.method !== 'publickey' || allowed instanceof Error) return false;
  const isSigned = !auth.signature || allowed.verify(auth.blob!, auth.signature, auth.hashAlgo) === true;
  return isSigned && allowed.getPublicSSH().equals(auth.key.data);
}

function serve(emulator: SftpEmulator, client: Connection, sftp: SFTPWrapper): void {
  const { files, folder } = emulator;
  const open = new Map<string, { path: string; listed?: boolean }>();
  const openHandle = (id: number, path: string) => {
    const handle = Buffer.from(String(open.size + 1));
    open.set(handle.toString(), { path });
    sftp.handle(id, handle);
  };
  const inFolder = (path: string) => path.startsWith(`${folder}/`);
  const on = (
    operation: Operation,
    id: number,
    path: string,
    execute: () => keyof typeof STATUS | undefined,
  ) => {
    emulator.requests.push(`${operation} ${path}`);
    const fault = emulator.fault(operation, path);
    if (fault === 'hang') return;
    if (fault === 'drop') return void client.end();
    const status = fault ?? execute();
    if (status) sftp.status(id, STATUS[status]);
  };
  sftp.on('OPEN', (id, path, flags) =>
    on('OPEN', id, path, () => {
      if (!inFolder(path)) return 'NO_SUCH_FILE';
      if (flags & OPEN_MODE.EXCL && files.has(path)) return 'FAILURE';
      files.set(path, Buffer.alloc(0));
      openHandle(id, path);
      return undefined;
    }),
  );
  sftp.on('WRITE', (id, handle, offset, data) => {
    const { path } = open.get(handle.toString())!;
    on('WRITE', id, path, () => {
      const present = files.get(path);
      if (!present) return 'OK';
      const next = Buffer.alloc(Math.max(present.length, offset + data.length));
      present.copy(next);
      data.copy(next, offset);
      files.set(path, next);
      return 'OK';
    });
  });
  sftp.on('CLOSE', (id, handle) => on('CLOSE', id, open.get(handle.toString())!.path, () => 'OK'));
  sftp.on('STAT', (id, path) => {
    const file = files.get(path);
    if (!file) return void sftp.status(id, STATUS.NO_SUCH_FILE);
    sftp.attrs(id, { mode: 0o100644, uid: 0, gid: 0, size: file.length, atime: 0, mtime: 0 });
  });
  sftp.on('OPENDIR', (id, path) => {
    if (path === folder) openHandle(id, path);
    else sftp.status(id, STATUS.NO_SUCH_FILE);
  });
  sftp.on('READDIR', (id, handle) => {
    const entry = open.get(handle.toString())!;
    on('READDIR', id, entry.path, () => {
      if (entry.listed || files.size === 0) return 'EOF';
      entry.listed = true;
      const names = [...files.keys()].map((path) => path.slice(folder.length + 1));
      const attrs = { mode: 0o100644, uid: 0, gid: 0, size: 0, atime: 0, mtime: 0 };
      sftp.name(
        id,
        names.map((filename) => ({ filename, longname: filename, attrs })),
      );
      return undefined;
    });
  });
  sftp.on('REMOVE', (id, path) => on('REMOVE', id, path, () => (files.delete(path) ? 'OK' : 'NO_SUCH_FILE')));
  sftp.on('RENAME', (id, from, to) =>
    on('RENAME', id, to, () => {
      const file = files.get(from);
      if (!file) return 'NO_SUCH_FILE';
      if (files.has(to)) return 'FAILURE';
      files.delete(from);
      files.set(to, file);
      return 'OK';
    }),
  );
}
