import type { Writable } from 'node:stream';
import type { Cell, OnRows, Table } from '../extraction.types.ts';
import { pump } from './pump.ts';

interface NdjsonOptions {
  signal?: AbortSignal;
  onRows?: OnRows;
}

/**
 * Writes a table as one JSON object a line; `lifecycle` and `attributes` are nested, empty values left out.
 * Ends the stream; destroys it on failure. @throws the signal's reason when aborted.
 */
export async function writeNdjson(table: Table, out: Writable, options: NdjsonOptions): Promise<void> {
  await pump(ndjsonChunks(table, options), out, options.signal);
}

async function* ndjsonChunks(table: Table, options: NdjsonOptions): AsyncGenerator<string> {
  const places = table.columns.map(({ header }) => header.split('.'));
  const shape = (row: readonly Cell[]) => {
    const item: Record<string, unknown> = {};
    for (const [n, cell] of row.entries()) {
      if (cell === null || cell === undefined) continue;
      const [first, ...rest] = places[n]!;
      if (rest.length === 0) item[first!] = cell;
      else {
        item[first!] ??= {};
        (item[first!] as Record<string, unknown>)[rest.join('.')] = cell;
      }
    }
    return `${JSON.stringify(item)}\n`;
  };
  for await (const rows of table.batches) {
    let text = '';
    for (const row of rows) text += shape(row);
    yield text;
    options.onRows?.(rows.length);
  }
}
