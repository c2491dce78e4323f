import { once } from 'node:events';
import type { Writable } from 'node:stream';
import type { Cell, OnRows, Table } from '../extraction.types.ts';

/** Writes a table as one JSON object a line; `lifecycle` and `attributes` are nested, empty values left out. */
export async function writeNdjson(
  table: Table,
  out: Writable,
  options: { signal?: AbortSignal; onRows?: OnRows },
): Promise<void> {
  const places = table.columns.map(({ header }) => header.split('.'));
  const shape = (row: Cell[]) => {
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
    return JSON.stringify(item);
  };
  for await (const rows of table.batches) {
    options.signal?.throwIfAborted();
    if (!out.write(`${rows.map(shape).join('\n')}\n`) && !out.destroyed) {
      await Promise.race([once(out, 'drain'), once(out, 'close')]);
    }
    if (out.destroyed) throw out.errored ?? new Error('the reader has gone');
    options.onRows?.(rows.length);
  }
  out.end();
}
