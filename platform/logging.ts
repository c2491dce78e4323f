import { type Logger as PinoLogger, pino } from 'pino';

export type Logger = PinoLogger;

/** Members that must never reach a log line, wherever they stand. */
const secret = ['password', 'access_token', 'token', 'secret', 'authorization', 'cookie', 'client_secret'];

/** The process's logger: JSON lines on standard output, secrets cut. */
export function createLogger(level: string, name: string): Logger {
  return pino({
    level,
    base: { process: name, pid: process.pid },
    timestamp: pino.stdTimeFunctions.isoTime,
    redact: { paths: secret.flatMap((key) => [key, `*.${key}`, `*.*.${key}`]), censor: '[cut]' },
  });
}
