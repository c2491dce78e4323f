import type { Connection, PoolClient, Submittable } from 'pg';

/** Whole lines of CSV or JSON, and how many rows they are. */
export interface CopiedLines {
  bytes: Buffer;
  rows: number;
}

const CHUNK = 64 * 1024;
/** Chunks that may wait for the reader before the connection is read no further. */
const WAITING = 4;
const CR = 13;
const LF = 10;

/** A `COPY ... TO STDOUT` under way. The server sends each row as a message of its own, ended by a line feed. */
class CopyOut implements Submittable {
  readonly text: string;
  readonly #ready: CopiedLines[] = [];
  #chunk = Buffer.allocUnsafe(CHUNK);
  #used = 0;
  #rows = 0;
  #connection: Connection | undefined;
  #ended = false;
  #error: Error | undefined;
  #discards = false;
  #wake: (() => void) | undefined;
  readonly #crlf: boolean;

  /** @param crlf whether lines end in CR and LF, or in LF alone. */
  constructor(text: string, crlf: boolean) {
    this.text = text;
    this.#crlf = crlf;
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.query(this.text);
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (this.#discards) return;
    // one byte more than came, for lines of CSV end as RFC 4180 says
    if (this.#used + chunk.length + 1 > this.#chunk.length) this.#pass(chunk.length + 1);
    // the driver uses the message's memory again
    this.#used += chunk.copy(this.#chunk, this.#used, 0, chunk.length - 1);
    if (this.#crlf) {
      this.#chunk[this.#used] = CR;
      this.#used += 1;
    }
    this.#chunk[this.#used] = LF;
    this.#used += 1;
    this.#rows += 1;
  }

  handleCommandComplete(): void {
    this.#pass(0);
  }

  handleError(error: Error): void {
    // after a refusal the server says that it is ready; a lost connection says nothing more
    this.#error ??= error;
    this.#pass(0);
  }

  handleReadyForQuery(): void {
    this.#ended = true;
    this.#wake?.();
  }

  /** Hands on what was gathered, and makes room for a line of that many bytes. */
  #pass(room: number): void {
    if (this.#rows > 0) {
      this.#ready.push({ bytes: this.#chunk.subarray(0, this.#used), rows: this.#rows });
      if (this.#ready.length >= WAITING && !this.#discards) this.#connection?.stream.pause();
    }
    this.#chunk = Buffer.allocUnsafe(Math.max(CHUNK, room));
    this.#used = 0;
    this.#rows = 0;
    this.#wake?.();
  }

  /** Waits until something has come. */
  async #news(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  async *lines(): AsyncGenerator<CopiedLines> {
    try {
      for (;;) {
        const next = this.#ready.shift();
        if (next) yield next;
        else if (this.#error) throw this.#error;
        else if (this.#ended) return;
        else {
          this.#connection?.stream.resume();
          await this.#news();
        }
      }
    } finally {
      // what is still on its way must be read before the connection is good for anything else
      this.#discards = true;
      this.#ready.length = 0;
      this.#connection?.stream.resume();
      while (!this.#ended && !this.#error) await this.#news();
    }
  }
}

/**
 * The rows of a query as CSV that the server writes: comma, CRLF, quotes where RFC 4180 needs them, nothing for null.
 * Read at the pace of whoever takes them; memory holds some chunks. No row is made into values here, which is what
 * takes the time otherwise.
 * @param query without parameters, since COPY takes none.
 * @throws the server's error, or that of a lost connection.
 */
export function copyCsv(client: PoolClient, query: string): AsyncGenerator<CopiedLines> {
  const copy = new CopyOut(`copy (${query}) to stdout with (format csv)`, true);
  client.query(copy);
  return copy.lines();
}

/**
 * The rows of a query of one column of JSON texts, one a line. Their control characters being escaped, nothing in them
 * is quoted. Read as {@link copyCsv}.
 * @param query without parameters. @throws as {@link copyCsv}.
 */
export function copyJson(client: PoolClient, query: string): AsyncGenerator<CopiedLines> {
  const options = `format csv, delimiter e'\\x02', quote e'\\x01'`;
  const copy = new CopyOut(`copy (${query}) to stdout with (${options})`, false);
  client.query(copy);
  return copy.lines();
}
