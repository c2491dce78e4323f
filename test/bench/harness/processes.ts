import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync, readFileSync } from 'node:fs';
import path from 'node:path';

export const repositoryRoot = path.resolve(import.meta.dirname, '../../..');

export interface NodeProcess {
  pid: number;
  /** Settles when the process has ended. */
  exited: Promise<void>;
  running(): boolean;
  /** The last lines that it wrote. */
  logTail(): string;
  /** Ends it with SIGTERM, and with SIGKILL when it has not ended in time. */
  stop(): Promise<void>;
  /** Ends it at once, as a lack of memory would. */
  kill(): Promise<void>;
}

const STOP_MS = 15_000;
const running = new Set<ChildProcess>();

// a bench that ends badly leaves nothing behind
process.on('exit', () => {
  for (const child of running) child.kill('SIGTERM');
});

export interface StartOptions {
  /** Program, relative to the repository. */
  entry: string;
  /** Options of node itself. */
  flags?: string[];
  args?: string[];
  env: Record<string, string>;
  /** Takes standard output and standard error. */
  logFile: string;
}

/** Starts one of the repository's programs in a process of its own. */
export function startNode({ entry, flags = [], args = [], env, logFile }: StartOptions): NodeProcess {
  const log = openSync(logFile, 'a');
  const child = spawn(process.execPath, [...flags, path.join(repositoryRoot, entry), ...args], {
    cwd: repositoryRoot,
    env: { ...process.env, ...env },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  running.add(child);
  const exited = once(child, 'exit').then(() => {
    running.delete(child);
  });
  const isRunning = () => child.exitCode === null && child.signalCode === null;
  return {
    pid: child.pid!,
    exited,
    running: isRunning,
    logTail: () => readFileSync(logFile, 'utf8').split('\n').slice(-30).join('\n'),
    async stop() {
      if (!isRunning()) return;
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
      await exited;
      clearTimeout(timer);
    },
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
