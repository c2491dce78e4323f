import type { Connection, PoolClient, Submittable } from 'pg';
import { release } from './release.ts';

/** Complete lines of CSV or JSON, or complete rows, and their number. */
export interface CopiedLines {
  bytes: Buffer;
  rows: number;
}

/** A running stream of lines, to be read once. */
interface Copying {
  lines(): AsyncGenerator<CopiedLines>;
  /** All lines in one buffer. */
  whole(): Promise<Buffer>;
  /** Discards unread data, including what the server still sends: only then the connection is usable again. */
  discard(): Promise<void>;
  /** Resolves when the server has sent everything or has failed: the connection is usable again. Never rejects. */
  ended: Promise<void>;
}

const CHUNK = 64 * 1024;
/** Chunks that may be buffered before reading from the connection is paused. */
const WAITING = 4;
const LF = 10;
/** Of a binary copy: the bytes before the first row, and before the value of a row with one column. */
const BINARY_HEAD = 19;
const VALUE_HEAD = 6;
/** The bytes after the last row. */
const BINARY_END = 2;

/** A running `COPY ... TO STDOUT`. The server sends each row as a message that ends with a line feed. */
class CopyOut implements Submittable, Copying {
  readonly text: string;
  readonly ended: Promise<void>;
  readonly #ready: CopiedLines[] = [];
  #chunk = Buffer.allocUnsafeSlow(CHUNK);
  #used = 0;
  #rows = 0;
  #connection: Connection | undefined;
  #ended = false;
  #end: () => void = () => undefined;
  #error: Error | undefined;
  #discards = false;
  #wake: (() => void) | undefined;
  readonly #form: CopyForm;
  readonly #waiting: number;
  #head = BINARY_HEAD;

  /** @param waiting maximum buffered chunks. */
  constructor(text: string, form: CopyForm, waiting: number) {
    this.text = text;
    this.#form = form;
    this.#waiting = waiting;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  submit(connection: Connection): void {
    this.#connection = connection;
    connection.query(this.text);
  }

  handleCopyData({ chunk }: { chunk: Buffer }): void {
    if (this.#discards) return;
    const form = this.#form;
    let from = this.#head;
    const to = chunk.length;
    this.#head = 0;
    if (to - from <= BINARY_END) return;
    if (typeof form === 'function') {
      this.#write(form, chunk, from);
      return;
    }
    if (form === 'json') from += VALUE_HEAD;
    if (this.#used + to - from + 1 > this.#chunk.length) this.#pass(to - from + 1);
    // The driver reuses the message's memory.
    this.#used += chunk.copy(this.#chunk, this.#used, from, to);
    this.#rows += 1;
    if (form === 'rows') return;
    this.#chunk[this.#used] = LF;
    this.#used += 1;
  }

  /** Appends the line of a row to the buffer, or to a new one with enough room. */
  #write(writer: RowWriter, row: Buffer, from: number): void {
    let end = writer(row, from, this.#chunk, this.#used);
    for (let room = CHUNK; end < 0; room *= 2) {
      this.#pass(room);
      end = writer(row, from, this.#chunk, this.#used);
    }
    this.#used = end;
    this.#rows += 1;
  }

  handleCommandComplete(): void {
    this.#pass(0);
  }

  handleError(error: Error): void {
    // After an error the server reports that it is ready; a lost connection does not.
    this.#error ??= error;
    this.#pass(0);
    this.#end();
  }

  handleReadyForQuery(): void {
    this.#ended = true;
    this.#end();
    this.#wake?.();
  }

  /** Emits the buffered lines, and allocates space for a line of the given size. */
  #pass(room: number): void {
    if (this.#rows > 0) {
      this.#ready.push({ bytes: this.#chunk.subarray(0, this.#used), rows: this.#rows });
      if (this.#ready.length >= this.#waiting && !this.#discards) this.#connection?.stream.pause();
    }
    this.#chunk = Buffer.allocUnsafeSlow(Math.max(room, CHUNK));
    this.#used = 0;
    this.#rows = 0;
    this.#wake?.();
  }

  /** Waits until data has arrived. */
  async #news(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  async whole(): Promise<Buffer> {
    const chunks: Buffer[] = [];
    for await (const { bytes } of this.lines()) chunks.push(bytes);
    const whole = Buffer.concat(chunks);
    release(...chunks);
    return whole;
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
      await this.discard();
    }
  }

  async discard(): Promise<void> {
    this.#discards = true;
    this.#ready.splice(0);
    this.#connection?.stream.resume();
    await this.ended;
  }
}

/**
 * Writes the line of a row, whose values are in PostgreSQL's binary format and begin at `from`.
 * @returns where the line ends, or a negative number if the target has not enough room.
 */
export type RowWriter = (source: Buffer, from: number, target: Buffer, at: number) => number;

/** What is read, see {@link copyOut}. */
export type CopyForm = 'json' | 'rows' | RowWriter;

/**
 * Starts reading the rows of a query as lines, at the pace of the reader; some chunks are buffered. Rows are not parsed into
 * values, which would take most of the time.
 * @param form `json`: the query has one column of JSON texts, one per line; `rows`: for each row the number of its values (two
 * bytes), then for each value its length (four bytes; -1 for null) and the value in PostgreSQL's binary format; a
 * {@link RowWriter}: the lines that it writes.
 * @param query without parameters, since COPY takes none.
 * @param waiting maximum number of buffered chunks of 64 KiB.
 * @throws the server's error, or that of a lost connection, to the reader.
 */
export function copyOut(client: PoolClient, form: CopyForm, query: string, waiting = WAITING): Copying {
  const copy = new CopyOut(`copy (${query}) to stdout with (format binary)`, form, waiting);
  client.query(copy);
  return copy;
}

/** Starts reading the next part on a connection; undefined after the last part. */
type NextPart = (client: PoolClient) => Promise<Copying | undefined>;

/**
 * Reads parts in parallel, one per connection at a time, and returns their lines in the order of the parts. A connection
 * that has received its part starts the next one while earlier parts are still being consumed; at most one part more than
 * there are connections is buffered.
 * @throws what `next` or a part throws, after all connections are usable again.
 */
export async function* copyInOrder(
  clients: readonly PoolClient[],
  next: NextPart,
): AsyncGenerator<CopiedLines> {
  const parts: Copying[] = [];
  let lastBegin: Promise<unknown> = Promise.resolve();
  let stopped = false;
  let changed = Promise.withResolvers<void>();
  const signalChange = () => {
    changed.resolve();
    changed = Promise.withResolvers<void>();
  };

  const begin = (client: PoolClient): Promise<Copying | undefined> => {
    const begun = lastBegin.then(async () => {
      const part = stopped ? undefined : await next(client);
      if (part) parts.push(part);
      else stopped = true;
      return part;
    });
    lastBegin = begun.catch(() => undefined);
    return begun;
  };

  const readOn = async (client: PoolClient): Promise<void> => {
    try {
      for (;;) {
        while (parts.length > clients.length && !stopped) await changed.promise;
        const part = await begin(client);
        signalChange();
        if (!part) return;
        await part.ended;
      }
    } finally {
      stopped = true;
      signalChange();
    }
  };

  let running = clients.length;
  let failed: unknown;
  const readers = clients.map(async (client) => {
    try {
      await readOn(client);
    } catch (error) {
      failed ??= error;
    } finally {
      running -= 1;
      signalChange();
    }
  });

  try {
    for (;;) {
      const [part] = parts;
      if (part) {
        yield* part.lines();
        parts.shift();
        signalChange();
      } else if (running === 0) {
        if (failed !== undefined) throw failed;
        return;
      } else {
        await changed.promise;
      }
    }
  } finally {
    stopped = true;
    signalChange();
    // when the consumer stops early
    for (const part of parts) await part.discard();
    await Promise.all(readers);
  }
}
