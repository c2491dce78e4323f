import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import pg from 'pg';
import { type Cluster, folderOf } from './cluster.ts';
import { commandOf, processMark } from './processes.ts';

/** What `postmaster.pid` says of the server of a folder. */
export interface Postmaster {
  /** `stale`: the server has ended without removing its file. */
  state: 'absent' | 'stale' | 'running';
  pid: number;
  port: number | undefined;
  /** Whether the running process is beyond doubt the server of this folder. */
  certain: boolean;
}

const ABSENT: Postmaster = { state: 'absent', pid: 0, port: undefined, certain: false };

/** Reads the file and looks at the process it names, whose pid may by now be another program's. */
export function findPostmaster(folder: string): Postmaster {
  let lines: string[];
  try {
    lines = readFileSync(path.join(folder, 'postmaster.pid'), 'utf8').split('\n');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ABSENT;
    throw error;
  }
  const pid = Number.parseInt(lines[0]!, 10);
  const port = Number.parseInt(lines[3] ?? '', 10) || undefined;
  const stale: Postmaster = { state: 'stale', pid, port, certain: false };
  if (!(pid > 0) || processMark(pid) === undefined) return stale;
  const command = commandOf(pid);
  if (command !== undefined && !/postgres/.test(command)) return stale;
  const certain = command !== undefined && ` ${command} `.includes(` -D ${folder} `);
  return { state: 'running', pid, port, certain };
}

/** `busy`: somebody listens, but gives no answer that tells who it is. */
export type Answer = 'ours' | 'starting' | 'busy' | 'foreign' | 'none';

// cannot connect now, admin shutdown, crash shutdown: the server is starting, recovering or stopping
const COMING_OR_GOING = new Set(['57P03', '57P01', '57P02']);
const NOBODY = new Set(['ECONNREFUSED', 'ECONNRESET']);

/** Who answers at an address. A copy of the folder has the same password: only the right folder is ours. */
export async function whoAnswers(url: string, folder: string): Promise<Answer> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 2_000,
    query_timeout: 2_000,
  });
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query('show data_directory');
    const served: string = rows[0].data_directory;
    return (await realpath(served).catch(() => served)) === folder ? 'ours' : 'foreign';
  } catch (error) {
    const code = (error as { code?: string }).code ?? '';
    if (COMING_OR_GOING.has(code)) return 'starting';
    if (NOBODY.has(code)) return 'none';
    return code.startsWith('28') ? 'foreign' : 'busy';
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** How a server is told to end: `fast` closes its connections, `immediate` leaves the rest to the next recovery. */
export function signalPostmaster(cluster: Cluster, pid: number, mode: 'fast' | 'immediate'): void {
  const signal = mode === 'fast' ? 'SIGINT' : 'SIGQUIT';
  try {
    if (process.platform === 'win32') {
      execFileSync(cluster.binaries.pg_ctl, ['kill', signal.slice(3), String(pid)], { stdio: 'ignore' });
    } else {
      process.kill(pid, signal);
    }
  } catch (error) {
    cluster.log.debug({ err: error, folder: folderOf(cluster) }, 'the PostgreSQL server had ended already');
  }
}
