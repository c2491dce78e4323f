import { type Logger as PinoLogger, pino, symbols } from 'pino';

export type Logger = PinoLogger;

/** Members that are removed from log lines, at any depth up to 3. */
const secret = [
  'password',
  'smtp_password',
  'access_token',
  'refresh_token',
  'token',
  'secret',
  'client_secret',
  'secret_access_key',
  'private_key',
  'passphrase',
  'api_key',
  'client_key',
  'authorization',
  'cookie',
];

/** Lines are buffered: one system call per line takes a tenth of a short request. */
const BUFFER_CHARACTERS = 8 * 1024;
const FLUSH_MS = 100;

/**
 * Buffered standard output: warnings and errors are written at once, other lines within 100 ms. Only a killed process loses
 * lines, those of the last 100 ms.
 */
function standardOutput() {
  const out = pino.destination({ dest: 1, sync: true });
  // One text, since counting and copying each line costs as much as creating it.
  let buffered = '';
  const flush = () => {
    if (buffered === '') return;
    const text = buffered;
    buffered = '';
    out.write(text);
  };
  setInterval(flush, FLUSH_MS).unref();
  process.on('exit', () => {
    flush();
    out.flushSync();
  });
  return {
    // Requests the level of each line, in lastLevel.
    [symbols.needsMetadataGsym]: true as const,
    lastLevel: 0,
    write(line: string) {
      buffered += line;
      if (this.lastLevel >= pino.levels.values.warn! || buffered.length >= BUFFER_CHARACTERS) flush();
    },
  };
}

// shared by all loggers of the process: buffered lines of several writers would overtake each other
let output: ReturnType<typeof standardOutput> | undefined;

/** The process's logger: JSON lines on standard output, without secrets. */
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
  // The default listener, which prints them.
  process.removeAllListeners('warning');
  process.on('warning', (warning) => log.warn({ warning: warning.name, err: warning }, 'a warning of Node'));
}

/** The members of the log line of a request. */
interface RequestLine {
  reqId: string;
  method: string;
  path: string;
  status: number;
  ms: number;
  user: string | undefined;
}

/**
 * Logs requests in the form of all other lines. They are most of the log and contain no secrets, so they are built here:
 * the logger would take a twelfth of a short request.
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
