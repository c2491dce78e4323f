import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chown, mkdir, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { StartupError } from '../startup.ts';
import { type Cluster, DATABASE_USER, folderOf, freePort, writeAccess } from './cluster.ts';
import { diskFull, isFull, serverEnvironment } from './surroundings.ts';

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
      `${folder} is no PostgreSQL data folder: move it away or choose another folder with DATA_DIR.`,
    );
  }
  if (version !== MAJOR) {
    throw new StartupError(
      `${folder} was made by PostgreSQL ${version} and this program brings ${MAJOR}: move the data with pg_dump and pg_restore, or choose another folder with DATA_DIR.`,
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
    }).catch((error: unknown) => cluster.log.debug({ err: error }, 'an unfinished cluster stays for now'));
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
