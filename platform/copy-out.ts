import type { Connection, PoolClient, Submittable } from 'pg';
import { sweepOut } from './heap.ts';
import type { Scratch } from './scratch.ts';

/** Whole lines of CSV or JSON, or whole rows, and how many they are. */
export interface CopiedLines {
  bytes: Buffer;
  rows: number;
}

/** Lines that have begun to come, to be read once. */
export interface Copying {
  lines(): AsyncGenerator<CopiedLines>;
  /** The same, where whoever takes lines has done with them when asking for the next: their memory is used again. */
  lent(): AsyncGenerator<CopiedLines>;
  /** All lines as one, which is there until the memory is released. */
  whole(memory: Scratch): Promise<Buffer>;
  /** Throws away what was not read, and what is still on its way: it must be read before the connection is free. */
  discard(): Promise<void>;
  /** When the server has sent all, or nothing more will come: the connection is free again. Never fails. */
  ended: Promise<void>;
}

/** How lines are taken, as {@link Copying} tells. */
export type Taking = 'lines' | 'lent';

const CHUNK = 64 * 1024;
/** Chunks that may wait for the reader before the connection is read no further. */
const WAITING = 4;
const CR = 13;
const LF = 10;
/** Of a binary copy: what goes before the first row, and before the value of a row of one column. */
const BINARY_HEAD = 19;
const VALUE_HEAD = 6;
/** What goes after the last row. */
const BINARY_END = 2;

/** Chunks that are kept to be used again: 5 MiB, which is what one reading over several connections has waiting. */
const KEPT = 80;
let kept: Buffer[] | undefined;

/** All that are kept, written to once: how many happen to wait for a reader is no matter of memory any more. */
const makeChunks = (): Buffer[] => Array.from({ length: KEPT }, () => Buffer.allocUnsafeSlow(CHUNK).fill(0));

/** A chunk for the lines of a connection. */
function takeChunk(): Buffer {
  kept ??= makeChunks();
  return kept.pop() ?? Buffer.allocUnsafeSlow(CHUNK);
}

/** Keeps a chunk that nobody reads any more. */
function keepChunk(chunk: Buffer): void {
  if (kept && chunk.length === CHUNK && kept.length < KEPT) kept.push(chunk);
}

/** Lines in a chunk that wait for the reader. */
interface Waiting {
  chunk: Buffer;
  used: number;
  rows: number;
}

/**
 * Takes lines out of their chunk, which is kept. Chunks that wait live long enough to be taken for old objects, of which a
 * fifth more than there were makes V8 look through the whole heap: four times while 80 MB went by, which took as long as
 * all else here. What the reader gets dies young.
 */
function copied({ chunk, used, rows }: Waiting): CopiedLines {
  // all of one size, so that the next one fits where the last one was
  const bytes = Buffer.allocUnsafeSlow(Math.max(used, CHUNK)).subarray(0, used);
  chunk.copy(bytes, 0, 0, used);
  keepChunk(chunk);
  // and as many that the connection has read
  sweepOut(2 * used);
  return { bytes, rows };
}

const NONE = Buffer.alloc(0);

/** A `COPY ... TO STDOUT` under way. The server sends each row as a message of its own, ended by a line feed. */
class CopyOut implements Submittable, Copying {
  readonly text: string;
  readonly ended: Promise<void>;
  readonly #ready: Waiting[] = [];
  #chunk = takeChunk();
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

  /** @param waiting chunks that may wait for the reader. */
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
    let from = 0;
    let to = chunk.length;
    if (form === 'csv') {
      to -= 1;
    } else {
      from = this.#head;
      this.#head = 0;
      if (to - from <= BINARY_END) return;
      if (typeof form === 'function') {
        this.#write(form, chunk, from);
        return;
      }
      if (form === 'json') from += VALUE_HEAD;
    }
    // two bytes more, for lines of CSV end as RFC 4180 says
    if (this.#used + to - from + 2 > this.#chunk.length) this.#pass(to - from + 2);
    // the driver uses the message's memory again
    this.#used += chunk.copy(this.#chunk, this.#used, from, to);
    this.#rows += 1;
    if (form === 'rows') return;
    if (form === 'csv') {
      this.#chunk[this.#used] = CR;
      this.#used += 1;
    }
    this.#chunk[this.#used] = LF;
    this.#used += 1;
  }

  /** Has what is made of a row written behind what was gathered, or where there is room for it. */
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
    // after a refusal the server says that it is ready; a lost connection says nothing more
    this.#error ??= error;
    this.#pass(0);
    this.#close();
    this.#end();
  }

  handleReadyForQuery(): void {
    this.#ended = true;
    this.#close();
    this.#end();
    this.#wake?.();
  }

  /** Hands on what was gathered, and makes room for a line of that many bytes. */
  #pass(room: number): void {
    if (this.#rows > 0) {
      this.#ready.push({ chunk: this.#chunk, used: this.#used, rows: this.#rows });
      if (this.#ready.length >= this.#waiting && !this.#discards) this.#connection?.stream.pause();
    } else {
      keepChunk(this.#chunk);
    }
    this.#chunk = room > CHUNK ? Buffer.allocUnsafeSlow(room) : takeChunk();
    this.#used = 0;
    this.#rows = 0;
    this.#wake?.();
  }

  /** Gives the chunk away when no more lines come. */
  #close(): void {
    keepChunk(this.#chunk);
    this.#chunk = NONE;
  }

  /** Waits until something has come. */
  async #news(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#wake = resolve;
    });
    this.#wake = undefined;
  }

  async *lines(): AsyncGenerator<CopiedLines> {
    for await (const waiting of this.#chunks()) yield copied(waiting);
  }

  async *lent(): AsyncGenerator<CopiedLines> {
    for await (const { chunk, used, rows } of this.#chunks()) {
      try {
        yield { bytes: chunk.subarray(0, used), rows };
      } finally {
        keepChunk(chunk);
        // as many that the connection has read
        sweepOut(used);
      }
    }
  }

  async whole(memory: Scratch): Promise<Buffer> {
    const piece = memory.begin();
    try {
      for await (const { bytes } of this.lent()) piece.add(bytes);
    } finally {
      piece.end();
    }
    return piece.bytes;
  }

  async *#chunks(): AsyncGenerator<Waiting> {
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
    for (const { chunk } of this.#ready.splice(0)) keepChunk(chunk);
    this.#connection?.stream.resume();
    await this.ended;
  }
}

/** How the server writes the lines of a form. */
const formats = {
  csv: 'csv',
  // of one column, so that the server looks at no character of it
  json: 'binary',
  rows: 'binary',
} as const;

/**
 * Makes lines of rows, whose values stand in PostgreSQL's binary format: writes what it makes of the row that begins at `from`, and
 * tells where that ends, below 0 when there is not enough room for it.
 */
export type RowWriter = (source: Buffer, from: number, target: Buffer, at: number) => number;

/** What is read, see {@link copyOut}. */
export type CopyForm = keyof typeof formats | RowWriter;

/**
 * Begins to read the rows of a query as lines that the server writes, at the pace of whoever takes them; memory holds
 * some chunks. No row is made into values here, which is what takes the time otherwise.
 * @param form `csv`: comma, CRLF, quotes where RFC 4180 needs them, nothing for null; `json`: the query has one column of
 * JSON texts, one a line; `rows`: of each row the number of its values (two bytes), then of each value its length (four; -1
 * for null) and the value as PostgreSQL's binary format has it; what makes lines of such rows: the lines.
 * @param query without parameters, since COPY takes none.
 * @param waiting chunks of 64 KiB that may wait for the reader.
 * @throws the server's error, or that of a lost connection, to the reader.
 */
export function copyOut(client: PoolClient, form: CopyForm, query: string, waiting = WAITING): Copying {
  const format = typeof form === 'function' ? 'binary' : formats[form];
  const copy = new CopyOut(`copy (${query}) to stdout with (format ${format})`, form, waiting);
  client.query(copy);
  return copy;
}
