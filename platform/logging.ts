import { type Logger as PinoLogger, pino, symbols } from 'pino';

export type Logger = PinoLogger;

/** Members that must never reach a log line, wherever they stand. */
const secret = ['password', 'access_token', 'token', 'secret', 'authorization', 'cookie', 'client_secret'];

/** A line for each request is most of the log; one system call for each line was a tenth of a quick answer. */
const HELD_BYTES = 8 * 1024;
const HELD_MS = 100;

/**
 * Standard output, written in pieces: what is informative is held for a moment, warnings and errors go out at once,
 * with all that was held. Only a process killed without notice loses lines, those of the last 100 ms.
 */
function standardOutput() {
  const out = pino.destination({ dest: 1, sync: true, minLength: HELD_BYTES, periodicFlush: HELD_MS });
  process.on('exit', () => out.flushSync());
  return {
    // asks for the level of each line, in lastLevel
    [symbols.needsMetadataGsym]: true as const,
    lastLevel: 0,
    write(line: string) {
      out.write(line);
      if (this.lastLevel >= pino.levels.values.warn!) out.flushSync();
    },
  };
}

let output: ReturnType<typeof standardOutput> | undefined;

/** The process's logger: JSON lines on standard output, secrets cut. */
export function createLogger(level: string, name: string): Logger {
  output ??= standardOutput();
  return pino(
    {
      level,
      base: { process: name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: secret.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[cut]' },
    },
    output,
  );
}
