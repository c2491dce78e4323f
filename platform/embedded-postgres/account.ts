import { execFileSync } from 'node:child_process';
import { chmod, lchown, readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '../startup.ts';

interface Account {
  uid: number;
  gid: number;
}

/** Whom PostgreSQL's programs run as, since they refuse to run as root. */
export interface ServerAccount {
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
  // what stands in the data folder has rights of its own
  await chmod(dataDir, ((await stat(dataDir)).mode & 0o777) | 0o011);
  if (reaches()) return plain;
  throw new StartupError(
    `As root, PostgreSQL runs as the user "${NAME}", who cannot reach ${dataDir} and ${program}: choose other places for them, or start Estate as another user.`,
  );
}

/** Hands a folder and what is in it to the account; the folder last, so that its owner tells that all is done. */
export async function handOver(folder: string, { uid, gid }: Account): Promise<void> {
  if ((await stat(folder)).uid === uid) return;
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const place = path.join(folder, entry.name);
    if (entry.isDirectory()) await handOver(place, { uid, gid });
    else await lchown(place, uid, gid);
  }
  await lchown(folder, uid, gid);
}
