import { execFileSync } from 'node:child_process';
import { access, chmod, chown, constants, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '../startup.ts';

/** Whom PostgreSQL runs as: itself refuses to run as root. */
export interface Account {
  uid: number;
  gid: number;
}

function lookUp(name: string): Account | undefined {
  try {
    const id = (flag: string) =>
      Number(execFileSync('id', [flag, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
}

/** Undefined when this process is not root and PostgreSQL simply runs as its user. */
export function serverAccount(): Account | undefined {
  if (process.getuid?.() !== 0) return undefined;
  const account = lookUp('postgres');
  if (account) return account;
  try {
    execFileSync('useradd', ['--system', '--no-create-home', '--shell', '/usr/sbin/nologin', 'postgres'], {
      stdio: 'ignore',
    });
  } catch {
    throw new StartupError(
      'PostgreSQL does not run as root and no user "postgres" could be made: start Estate as another user.',
    );
  }
  return lookUp('postgres')!;
}

/** Hands a folder and what is in it to the account. */
export async function handOver(folder: string, account: Account): Promise<void> {
  await chown(folder, account.uid, account.gid);
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) await handOver(place, account);
    else await chown(place, account.uid, account.gid);
  }
}

/** Lets the account pass through the data folder; what stands in it has rights of its own. */
export async function letThrough(folder: string): Promise<void> {
  const { mode } = await stat(folder);
  if ((mode & 0o011) !== 0o011) await chmod(folder, (mode & 0o777) | 0o011);
}

/** @throws StartupError when the account cannot get to a place through its parent folders. */
export function requireReach(place: string, account: Account): void {
  try {
    execFileSync('test', ['-x', place], { uid: account.uid, gid: account.gid, stdio: 'ignore' });
  } catch {
    throw new StartupError(
      `As root, PostgreSQL runs as the user "postgres", who cannot reach ${place}: choose another place, or start Estate as another user.`,
    );
  }
}

/** @throws the file system's error when this process may not write in the folder. */
export async function requireWritable(folder: string): Promise<void> {
  await access(folder, constants.W_OK | constants.X_OK);
}
