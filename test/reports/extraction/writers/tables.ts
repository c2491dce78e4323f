import { Writable } from 'node:stream';
import type { LineTable } from '../../../../reports/extraction/extraction.rows.ts';
import type { Cell, Column, Table } from '../../../../reports/extraction/extraction.types.ts';

/** A table of rows that are there already, in batches of a size. */
export function tableOf(columns: Column[], rows: Cell[][], name = 'Cards', batch = 100): Table {
  return {
    name,
    columns,
    expected: rows.length,
    batches: (async function* () {
      for (let from = 0; from < rows.length; from += batch) yield rows.slice(from, from + batch);
    })(),
  };
}

/** The same rows as lines that are JSON arrays, in chunks of a size. */
export function linesOf(columns: Column[], rows: Iterable<Cell[]>, chunk = 100): LineTable {
  return { name: 'Cards', columns, expected: 0, lines: jsonLines(columns, rows, chunk) };
}

async function* jsonLines(columns: Column[], rows: Iterable<Cell[]>, chunk: number) {
  let lines: string[] = [];
  const take = () => {
    const bytes = Buffer.from(new TextEncoder().encode(lines.join('')).buffer);
    const taken = { bytes, rows: lines.length };
    lines = [];
    return taken;
  };
  for (const row of rows) {
    const own: unknown[] = [];
    const attributes: Record<string, unknown> = {};
    for (const [n, { header }] of columns.entries()) {
      if (header.startsWith('attributes.')) attributes[header.slice('attributes.'.length)] = row[n];
      else own.push(row[n]);
    }
    lines.push(`${JSON.stringify([...own, attributes])}\n`);
    if (lines.length === chunk) yield take();
  }
  if (lines.length > 0) yield take();
}

/** Columns of texts. */
export function textColumns(...headers: string[]): Column[] {
  return headers.map((header) => ({ header, type: 'text' }));
}

/** A stream that keeps what is written to it. */
export class Kept extends Writable {
  readonly chunks: Buffer[] = [];

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.chunks.push(chunk);
    done();
  }

  /** All that was written. */
  get content(): Buffer {
    return Buffer.concat(this.chunks);
  }
}

/** A stream whose reader never takes what was written. */
export class Stuck extends Writable {
  override _write(): void {}
}

/** A table without an end; `told` has how many rows were taken from it, `closed` whether it was let go of. */
export function endlessTable(): { table: Table; told: { rows: number; closed: boolean } } {
  const told = { rows: 0, closed: false };
  const batches = async function* () {
    try {
      for (;;) {
        yield Array.from({ length: 500 }, () => [`text ${Math.random()} ${Math.random()} ${Math.random()}`]);
        told.rows += 500;
      }
    } finally {
      told.closed = true;
    }
  };
  return {
    table: { name: 'Cards', columns: textColumns('name'), expected: 1e9, batches: batches() },
    told,
  };
}

/** The same as lines of JSON. */
export function endlessLines(): { table: LineTable; told: { rows: number; closed: boolean } } {
  const told = { rows: 0, closed: false };
  function* rows() {
    try {
      for (;;) {
        yield [`text ${Math.random()} ${Math.random()} ${Math.random()}`];
        told.rows += 1;
      }
    } finally {
      told.closed = true;
    }
  }
  return { table: linesOf(textColumns('name'), rows(), 500), told };
}
