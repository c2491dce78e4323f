import { readFileSync } from 'node:fs';
import type { Logger } from './logging.ts';
import { within } from './within.ts';

type Closer = (remainingMs: number) => Promise<unknown> | unknown;

/** The orderly end of a process. */
export interface Lifecycle {
  /**
   * Registers what is to be closed; the last registered is closed first.
   * @param close is given the time left to it, in milliseconds, and is no longer waited for after that.
   */
  onClose(name: string, close: Closer): void;
  /** Closes everything once; further calls wait for the same end. */
  shutdown(reason: string): Promise<void>;
  /**
   * SIGTERM, SIGINT and SIGHUP end the process in order with code 0, a second one at once. What nobody caught ends
   * it in order too, with code 1. A process that npm has started ends in order when npm does.
   */
  installSignalHandlers(): void;
}

/** What a closer that is stuck leaves to each one after it. */
const RESERVE_MS = 400;
/** A terminal and npm both pass Ctrl-C on: signals that come together are one. */
const SAME_MS = 500;

/** Whether the process was told to survive its terminal, as nohup does. */
function ignoresHangup(): boolean {
  try {
    const mask = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))![1]!;
    return (Number.parseInt(mask.slice(-1), 16) & 1) === 1;
  } catch {
    return true;
  }
}

const PARENT_MS = 500;

/**
 * Ends with the shell in which npm runs a script: npm passes SIGTERM on to that shell alone, which dies of it and leaves
 * its child running.
 */
function followParent(end: () => void): void {
  const parent = process.ppid;
  const look = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(look);
    end();
  }, PARENT_MS);
  look.unref();
}

/** @param graceMs the time for all closers together, in milliseconds. */
export function createLifecycle({ log, graceMs = 10_000 }: { log: Logger; graceMs?: number }): Lifecycle {
  const closers: { name: string; close: Closer }[] = [];
  let ending: Promise<void> | undefined;

  const closeOne = async ({ name, close }: { name: string; close: Closer }, limitMs: number) => {
    const closed = (async () => {
      await close(limitMs);
      return true;
    })();
    try {
      if (!(await within(closed, limitMs))) log.warn({ name }, 'did not close in time');
    } catch (error) {
      log.warn({ err: error, name }, 'failed while closing');
    }
  };

  const end = async (reason: string) => {
    const deadline = Date.now() + graceMs;
    log.info({ reason }, 'shutting down');
    for (let closer = closers.pop(); closer; closer = closers.pop()) {
      await closeOne(closer, Math.max(50, deadline - Date.now() - closers.length * RESERVE_MS));
    }
  };
  const shutdown = (reason: string) => {
    ending ??= end(reason);
    return ending;
  };

  return {
    onClose: (name, close) => void closers.push({ name, close }),
    shutdown,
    installSignalHandlers() {
      let firstAt = 0;
      let exitCode = 0;
      const finish = (reason: string) => void shutdown(reason).then(() => process.exit(exitCode));
      const signals: NodeJS.Signals[] = ['SIGTERM', 'SIGINT'];
      if (!ignoresHangup()) signals.push('SIGHUP');
      for (const signal of signals) {
        process.on(signal, () => {
          if (firstAt === 0) {
            firstAt = Date.now();
            finish(signal);
          } else if (Date.now() - firstAt > SAME_MS) process.exit(1);
        });
      }
      if (process.env.npm_lifecycle_event !== undefined) followParent(() => finish('npm has ended'));
      const fail = (error: unknown) => {
        log.fatal({ err: error }, 'unexpected failure; ending');
        exitCode = 1;
        finish('failure');
      };
      process.on('uncaughtException', fail);
      process.on('unhandledRejection', fail);
    },
  };
}
