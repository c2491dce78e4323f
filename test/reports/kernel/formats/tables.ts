import { Writable } from 'node:stream';
import type {
  BinaryTable,
  Cell,
  Column,
  ColumnType,
  Table,
} from '../../../../reports/kernel/formats/formats.types.ts';

/** A table of rows that are there already, in batches of a size. */
export function tableOf(columns: Column[], rows: Cell[][], name = 'Cards', batch = 100): Table {
  return {
    name,
    columns,
    batches: (async function* () {
      for (let from = 0; from < rows.length; from += batch) yield rows.slice(from, from + batch);
    })(),
  };
}

/** The same rows as the database sends them, in chunks of a size. */
export function binaryOf(columns: Column[], rows: Iterable<Cell[]>, chunk = 100): BinaryTable {
  return { name: 'Cards', columns, expected: 0, chunks: () => binaryRows(columns, rows, chunk) };
}

const EPOCH_MS = Date.UTC(2000, 0, 1);

/** A value with its length before it, in PostgreSQL's binary format. */
function binaryValue(cell: unknown, type: ColumnType): Buffer {
  const none = Buffer.from([255, 255, 255, 255]);
  if (cell === null || cell === undefined) return none;
  let value: Buffer;
  if (type === 'datetime') {
    const ms = Date.parse(String(cell));
    if (Number.isNaN(ms)) return none;
    value = Buffer.alloc(8);
    value.writeBigInt64BE(BigInt(ms - EPOCH_MS) * 1000n);
  } else if (type === 'number') {
    value = Buffer.alloc(8);
    value.writeDoubleBE(cell as number);
  } else if (type === 'boolean') {
    value = Buffer.from([cell ? 1 : 0]);
  } else {
    value = Buffer.from(type === 'multi' ? JSON.stringify(cell) : String(cell));
  }
  const length = Buffer.alloc(4);
  length.writeInt32BE(value.length);
  return Buffer.concat([length, value]);
}

async function* binaryRows(columns: Column[], rows: Iterable<Cell[]>, chunk: number) {
  let parts: Buffer[] = [];
  let count = 0;
  const take = () => {
    const bytes = Buffer.concat(parts);
    // memory of its own, which may be given away
    const taken = { bytes: Buffer.from(new Uint8Array(bytes).buffer), rows: count };
    parts = [];
    count = 0;
    return taken;
  };
  for (const row of rows) {
    const attributes: Record<string, unknown> = {};
    // as many values as nobody looks at
    parts.push(Buffer.alloc(2));
    for (const [n, { header, type }] of columns.entries()) {
      if (header.startsWith('attributes.')) attributes[header.slice('attributes.'.length)] = row[n];
      else parts.push(binaryValue(row[n], type));
    }
    const isAttribute = ({ header }: Column) => header.startsWith('attributes.');
    if (columns.some(isAttribute)) parts.push(binaryValue(JSON.stringify(attributes), 'text'));
    count += 1;
    if (count === chunk) yield take();
  }
  if (count > 0) yield take();
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
  return { table: { name: 'Cards', columns: textColumns('name'), batches: batches() }, told };
}

/** The same as the database sends them. */
export function endlessRows(): { table: BinaryTable; told: { rows: number; closed: boolean } } {
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
  return { table: binaryOf(textColumns('name'), rows(), 500), told };
}
