import { type Logger as PinoLogger, pino, symbols } from 'pino';

export type Logger = PinoLogger;

/** Members that must never reach a log line, wherever they stand. */
const secret = [
  'password',
  'smtp_password',
  'access_token',
  'refresh_token',
  'token',
  'secret',
  'client_secret',
  'secret_access_key',
  'api_key',
  'client_key',
  'authorization',
  'cookie',
];

/** A line for each request is most of the log; one system call for each line was a tenth of a quick answer. */
const HELD_CHARACTERS = 8 * 1024;
const HELD_MS = 100;

/**
 * Standard output, written in pieces: what is informative is held for a moment, warnings and errors go out at once,
 * with all that was held. Only a process killed without notice loses lines, those of the last 100 ms.
 */
function standardOutput() {
  const out = pino.destination({ dest: 1, sync: true });
  // as one text: to count and copy each line on its own costs as much as making it
  let held = '';
  const flush = () => {
    if (held === '') return;
    const text = held;
    held = '';
    out.write(text);
  };
  setInterval(flush, HELD_MS).unref();
  process.on('exit', () => {
    flush();
    out.flushSync();
  });
  return {
    // asks for the level of each line, in lastLevel
    [symbols.needsMetadataGsym]: true as const,
    lastLevel: 0,
    write(line: string) {
      held += line;
      if (this.lastLevel >= pino.levels.values.warn! || held.length >= HELD_CHARACTERS) flush();
    },
  };
}

// shared by all loggers of the process: buffered lines of several writers would overtake each other
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

/** Logs warnings of Node as lines of the log; by itself it prints them as plain text. */
export function logWarnings(log: Logger): void {
  // the listener that prints them
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log.warn({ warning: warning.name, err: warning }, 'a warning of Node'));
}

/** What is said of a request that was answered. */
interface RequestLine {
  reqId: string;
  method: string;
  path: string;
  status: number;
  ms: number;
  user: string | undefined;
}

/**
 * Records answered requests in the form of every other line. These are most of the log and hold nothing that is to be
 * cut, so they are put together here: through the logger each took a twelfth of a quick answer.
 */
export function createRequestLines(log: Logger): (line: RequestLine) => void {
  output ??= standardOutput();
  const out = output;
  const about = JSON.stringify(log.bindings()).slice(1, -1);
  const level = pino.levels.values.info!;
  let now = 0;
  let time = '';
  return ({ reqId, method, path, status, ms, user }) => {
    if (!log.isLevelEnabled('info')) return;
    if (Date.now() !== now) {
      now = Date.now();
      time = new Date(now).toISOString();
    }
    const who = user === undefined ? '' : `,"user":"${user}"`;
    out.lastLevel = level;
    out.write(
      `{"level":${level},"time":"${time}",${about},"reqId":"${reqId}","method":"${method}","path":${JSON.stringify(path)},"status":${status},"ms":${ms}${who},"msg":"request"}\n`,
    );
  };
}
