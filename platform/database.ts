import createKnex, { type Knex } from 'knex';
import pg from 'pg';
import { sha256 } from './crypto.ts';

export type Db = Knex;
export type Transaction = Knex.Transaction;
/** A transaction, or the pool where a single read needs none. */
export type Sql = Db | Transaction;

const TYPE_INT8 = 20;
const TYPE_DATE = 1082;
const TYPE_TIMESTAMP = 1114;
const TYPE_NUMERIC = 1700;

/**
 * Value parsers for the whole process: counts and positions stay exact (a bigint beyond 2^53 is not
 * expected and refused), money is a number, dates stay strings.
 */
function setParsers(): void {
  pg.types.setTypeParser(TYPE_INT8, (text) => {
    const value = Number(text);
    if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is out of range`);
    return value;
  });
  pg.types.setTypeParser(TYPE_NUMERIC, Number);
  pg.types.setTypeParser(TYPE_DATE, (text) => text);
  pg.types.setTypeParser(TYPE_TIMESTAMP, (text) => text);
}

/**
 * Milliseconds without a statement after which the server ends a transaction, so that a frozen or disconnected process
 * releases its locks. Uncommitted transactions are retried, see `inTransaction`.
 */
const IDLE_MS = 4_500;

/**
 * How long one statement of a transaction waits for a lock, in milliseconds, before the transaction is run again. Shorter
 * than `IDLE_MS`: what a frozen process waits for is given up before it is granted, so that the connections of one
 * process do not hold a lock one after the other.
 */
const LOCK_MS = 4_000;
/** How long a transaction is retried because of locks, in milliseconds. */
const LOCK_PATIENCE_MS = 120_000;

/** For read-only transactions, which block nobody, with long computations between their statements. */
export const READER_IDLE_TIMEOUT = `set local idle_in_transaction_session_timeout = '60s'`;

interface DatabaseOptions {
  url: string;
  /** Shown in pg_stat_activity. */
  name: string;
  poolMax?: number;
}

/** The process's connection pool. */
export function openDatabase({ url, name, poolMax = 16 }: DatabaseOptions): Db {
  setParsers();
  return createKnex({
    client: 'pg',
    connection: {
      connectionString: url,
      application_name: name,
      keepAlive: true,
      connectionTimeoutMillis: 10_000,
      options: `-c idle_in_transaction_session_timeout=${IDLE_MS} -c timezone=UTC -c lock_timeout=30000`,
    },
    pool: { min: 0, max: poolMax },
    acquireConnectionTimeout: 15_000,
    // Every error reaches its caller; knex would also print it.
    log: { warn: () => undefined, error: () => undefined },
  });
}

/** SQL inside a statement of {@link query}, as opposed to a value. */
class EmbeddedSql {
  readonly sql: string;
  readonly bindings: readonly unknown[];
  constructor(sql: string, bindings: readonly unknown[] = []) {
    this.sql = sql;
    this.bindings = bindings;
  }
}

/**
 * Embeds SQL into a statement of {@link query}: a text or number of our own, never one of a request, or a fragment with
 * its values.
 */
export const embed = (part: string | number | { sql: string; bindings: readonly unknown[] }): EmbeddedSql =>
  typeof part === 'object' ? new EmbeddedSql(part.sql, part.bindings) : new EmbeddedSql(String(part));

/** A part of a statement with its values, as a tagged template like those of {@link query}. */
export function fragment(
  texts: TemplateStringsArray,
  ...values: unknown[]
): { sql: string; bindings: unknown[] } {
  const parts = values.map((value) => (value instanceof EmbeddedSql ? value : new EmbeddedSql('?', [value])));
  const sql = texts.map((text, n) => text + (parts[n]?.sql ?? '')).join('');
  return { sql, bindings: parts.flatMap(({ bindings }) => bindings) };
}

/** Fragments with a text of our own between them. */
export const joinFragments = (
  parts: readonly { sql: string; bindings: readonly unknown[] }[],
  between: string,
): { sql: string; bindings: unknown[] } => ({
  sql: parts.map(({ sql }) => sql).join(between),
  bindings: parts.flatMap(({ bindings }) => bindings),
});

/** A row of a statement whose columns have no declared type. */
type UntypedRow = Awaited<Knex.Raw>;

/**
 * Statements as tagged templates: a `${value}` is bound as a parameter, `${embed(sql)}` becomes part of the text.
 * `rows`, `row` (the first or undefined), `column` (the first of all rows), `value` (the only one of the only row) return
 * what the statement returns; `count` returns the number of rows that it wrote or returned, `run` nothing.
 */
export function query(sql: Sql) {
  const execute = (texts: TemplateStringsArray, values: unknown[]) => {
    const { sql: text, bindings } = fragment(texts, ...values);
    return sql.raw(text, bindings);
  };
  const rows = async <T = UntypedRow>(texts: TemplateStringsArray, ...values: unknown[]): Promise<T[]> =>
    (await execute(texts, values)).rows;
  const column = async <T>(texts: TemplateStringsArray, ...values: unknown[]): Promise<T[]> =>
    (await rows<Record<string, T>>(texts, ...values)).map((row) => Object.values(row)[0]!);
  return {
    rows,
    column,
    row: async <T = UntypedRow>(texts: TemplateStringsArray, ...values: unknown[]): Promise<T | undefined> =>
      (await rows<T>(texts, ...values))[0],
    value: async <T>(texts: TemplateStringsArray, ...values: unknown[]): Promise<T> =>
      (await column<T>(texts, ...values))[0]!,
    count: async (texts: TemplateStringsArray, ...values: unknown[]): Promise<number> =>
      (await execute(texts, values)).rowCount,
    run: async (texts: TemplateStringsArray, ...values: unknown[]): Promise<void> =>
      void (await rows(texts, ...values)),
  };
}

/** The rows that a statement returns. `T` names its columns. */
export async function queryRows<T>(sql: Sql, text: string, bindings: readonly unknown[] = []): Promise<T[]> {
  const { rows } = await sql.raw(text, bindings);
  return rows;
}

/**
 * Sets columns of the rows that a query selects; undefined ones are left. An empty object is allowed, unlike in the query builder.
 */
export async function setColumns(rows: Knex.QueryBuilder, columns: Record<string, unknown>): Promise<void> {
  if (Object.values(columns).some((value) => value !== undefined)) await rows.update(columns);
}

/** The pg error code (SQLSTATE) of an error, if it is one. */
export function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** The name of the constraint or unique index that a pg error reports. */
export function violatedConstraint(error: unknown): string | undefined {
  return (error as { constraint?: string } | null)?.constraint;
}

/** Awaits a write; one that violates a unique index, or the named one, fails with the given error. */
export async function unlessTaken<T>(
  write: PromiseLike<T>,
  taken: (cause: unknown) => Error,
  index?: string,
): Promise<T> {
  try {
    return await write;
  } catch (error) {
    const clash = sqlState(error) === '23505' && (!index || violatedConstraint(error) === index);
    throw clash ? taken(error) : error;
  }
}

// admin shutdown, crash shutdown, cannot connect now, too many connections, idle and total time-outs of transactions
const LOST_STATES = new Set(['57P01', '57P02', '57P03', '53300', '25P03', '25P04']);
const LOST_CODES = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOENT']);
const LOST_MESSAGES =
  /connection (terminated|ended)|connection error and is not queryable|timeout (exceeded when trying to connect|expired)|timeout acquiring a connection|client was closed|query read timeout/i;

/** Whether an error means that the connection to PostgreSQL was lost or could not be established. */
export function isConnectionLoss(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    const { code, syscall } = at as NodeJS.ErrnoException;
    const state = sqlState(at);
    if (state && (state.startsWith('08') || LOST_STATES.has(state))) return true;
    // ENOENT: the server's unix socket, as opposed to a file.
    if (code && LOST_CODES.has(code) && (code !== 'ENOENT' || syscall === 'connect')) return true;
    if (LOST_MESSAGES.test(at.message)) return true;
  }
  return false;
}

/** Interval in milliseconds of the heartbeat statements. */
const AWAKE_MS = 1_000;

/**
 * Does work outside the database while a transaction holds locks. The server ends a transaction after five seconds
 * without a statement, so that a frozen process blocks nobody: this function sends a statement each second.
 */
export async function withHeartbeat<T>(trx: Knex.Transaction, work: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => void trx.raw('select 1').catch(() => undefined), AWAKE_MS);
  try {
    return await work();
  } finally {
    clearInterval(timer);
  }
}

/** The SQLSTATE of a lock that was not granted in time. */
export const LOCK_NOT_AVAILABLE = '55P03';

/** The SQLSTATE of a row that names another which does not exist, as it was deleted meanwhile. */
export const FOREIGN_KEY_VIOLATION = '23503';

// serialisation failure, deadlock, and time-outs of transactions, which end none that has committed; and a row that was
// deleted after it was read, which the next attempt sees
const RETRYABLE = new Set(['40001', '40P01', '25P03', '25P04', FOREIGN_KEY_VIOLATION]);

/** Messages for a statement, such as COMMIT, that was not sent, as the connection was lost before: of the driver, and of the socket. */
const NOT_SENT = /connection error and is not queryable|write EPIPE/;

/**
 * Cancels the statement that a transaction executes when a signal is aborted, until it is disposed of. The transaction fails then.
 * @param db another connection is taken from it. @param trx has executed no statement that failed.
 */
export async function cancelOnAbort(db: Db, trx: Knex.Transaction, signal: AbortSignal): Promise<Disposable> {
  const { pid, started } = await query(trx).row`select pg_backend_pid() as pid, now()::text as started`;
  const cancel = () => {
    // by its beginning, so that a later transaction of the same connection goes on
    const cancelled = query(db).run`select pg_cancel_backend(pid) from pg_stat_activity
      where pid = ${pid} and xact_start = ${started}::timestamptz`;
    cancelled.catch(() => undefined);
  };
  signal.addEventListener('abort', cancel, { once: true });
  return { [Symbol.dispose]: () => signal.removeEventListener('abort', cancel) };
}

/**
 * Runs `work` in a transaction. Deadlocks, serialisation failures and connections that are lost before the commit (the
 * server ends transactions without statements) are tried again, three times, with jitter, so that clients never see
 * them; lock time-outs for two minutes.
 */
export async function inTransaction<T>(
  db: Db,
  work: (trx: Knex.Transaction) => Promise<T>,
  config?: Knex.TransactionConfig,
): Promise<T> {
  const lockEnd = Date.now() + LOCK_PATIENCE_MS;
  for (let attempt = 1; ; attempt += 1) {
    // what went wrong before the commit; the query builder may report the failure of the rollback instead
    let met: unknown;
    try {
      return await db.transaction(async (trx) => {
        try {
          await trx.raw(`set local lock_timeout = ${LOCK_MS}`);
          return await work(trx);
        } catch (error) {
          met = error;
          throw error;
        }
      }, config);
    } catch (error) {
      const reason = met ?? error;
      const again =
        RETRYABLE.has(sqlState(reason) ?? '') ||
        (met !== undefined && isConnectionLoss(met)) ||
        NOT_SENT.test((error as Error).message);
      const locked = sqlState(reason) === LOCK_NOT_AVAILABLE && Date.now() < lockEnd;
      if (!locked && (attempt >= 4 || !again)) throw reason;
      await new Promise((resolve) => setTimeout(resolve, Math.min(attempt, 4) * 20 + Math.random() * 50));
    }
  }
}

/** Names the database, also among those of one server, so that installations can share a Redis. */
export async function installation(db: Db): Promise<string> {
  const name = await query(db).value<string>`
    select system_identifier::text || '/' || d.oid as name
    from pg_control_system(), pg_database d where d.datname = current_database()`;
  return sha256(name).slice(0, 16);
}
