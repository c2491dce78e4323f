import type { Logger } from './logging.ts';

type Closer = (remainingMs: number) => Promise<unknown> | unknown;

/** The orderly end of a process. */
export interface Lifecycle {
  /** Registers what is to be closed; the last registered is closed first. */
  onClose(name: string, close: Closer): void;
  /** Closes everything once; further calls wait for the same end. */
  shutdown(reason: string): Promise<void>;
  /** SIGTERM and SIGINT end the process in order; a second one at once. */
  installSignalHandlers(): void;
}

// what a stuck closer leaves for those after it
const RESERVE_MS = 1_500;

/** @param graceMs the time for all closers together, in milliseconds. */
export function createLifecycle({ log, graceMs = 10_000 }: { log: Logger; graceMs?: number }): Lifecycle {
  const closers: { name: string; close: Closer }[] = [];
  let ending: Promise<void> | undefined;

  const end = async (reason: string) => {
    const deadline = Date.now() + graceMs;
    log.info({ reason }, 'shutting down');
    while (closers.length > 0) {
      const { name, close } = closers.pop()!;
      const remaining = Math.max(100, deadline - Date.now() - closers.length * (RESERVE_MS / 4));
      let timer: NodeJS.Timeout | undefined;
      const limit = new Promise<'late'>((resolve) => {
        timer = setTimeout(() => resolve('late'), remaining);
      });
      try {
        const outcome = await Promise.race([
          Promise.resolve(close(remaining)).then(() => 'closed' as const),
          limit,
        ]);
        if (outcome === 'late') log.warn({ name }, 'did not close in time');
      } catch (error) {
        log.warn({ err: error, name }, 'failed while closing');
      } finally {
        clearTimeout(timer);
      }
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
      for (const signal of ['SIGTERM', 'SIGINT'] as const) {
        process.on(signal, () => {
          if (ending) process.exit(1);
          void shutdown(signal).then(() => process.exit(0));
        });
      }
      const fail = (error: unknown) => {
        log.fatal({ err: error }, 'unexpected failure; ending');
        void shutdown('failure').then(() => process.exit(1));
      };
      process.on('uncaughtException', fail);
      process.on('unhandledRejection', fail);
    },
  };
}
