import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Batch, Cell, Column, Table } from '../../kernel/formats/formats.types.ts';
import { goneQuery, type Join, type RowSource, sourceQuery } from './extraction.rows.ts';
import { rowShaper, shapedBatches } from './extraction.shape.ts';
import { numbered } from './extraction.sql.ts';

/** Values by header, and the joins that they need. */
export interface TableCells {
  /** SQL of the value. */
  members: Record<string, string>;
  /** What is made of a value that is there, where it is not taken as it is. */
  readers?: Record<string, (value: unknown) => Cell>;
  joins: readonly Join[];
  /** Rows that are fetched at once. */
  batch: number;
}

/** The place of the attributes among a query's values. */
const ATTRIBUTES = 0;
const PREFIX = 'attributes.';

/** The objects of a source as a table of values, read from the snapshot: what is gone, then what is there. */
export async function rowTable(
  snapshot: Snapshot,
  source: RowSource,
  { members, readers = {}, joins, batch }: TableCells,
  columns: Column[],
): Promise<Table> {
  const known: Record<string, string> = source.gone
    ? { ...members, deleted: 'null::boolean', removed: 'null::boolean', position: 'x.position::text' }
    : members;
  const fixed = columns.filter(({ header }) => !header.startsWith(PREFIX)).map(({ header }) => header);
  const { attributes } = source;
  const list = [`${attributes.sql} as attributes`, ...fixed.map((header) => known[header]!)];
  const query = sourceQuery(source, { sql: list.join(', '), bindings: attributes.bindings }, joins);
  const shape = rowShaper(columns, ({ header }) => {
    if (header.startsWith(PREFIX)) return { place: ATTRIBUTES, member: header.slice(PREFIX.length) };
    return { place: ATTRIBUTES + 1 + fixed.indexOf(header), read: readers[header] };
  });
  const { gone } = source;
  async function* batches(): AsyncGenerator<Batch> {
    if (gone) yield* goneBatches(snapshot, goneQuery(source, gone, goneMembers), columns, batch);
    const rows = snapshot.batches(numbered(query.sql), query.bindings, batch);
    yield* shapedBatches(rows, columns.length, shape);
  }
  const expected = gone ? 0 : await snapshot.expected(query.sql, query.bindings);
  return { name: source.name, columns, expected, batches: batches() };
}

const goneHeaders = ['id', 'type', 'deleted', 'removed', 'position'];
const goneMembers = 'g.id, g.type, nullif(g.deleted, false), nullif(not g.deleted, false), g.position::text';

async function* goneBatches(
  snapshot: Snapshot,
  query: { sql: string; bindings: unknown[] },
  columns: Column[],
  batch: number,
): AsyncGenerator<Batch> {
  const places = columns.map(({ header }) => goneHeaders.indexOf(header));
  for await (const rows of snapshot.batches(numbered(query.sql), query.bindings, batch)) {
    yield rows.map((row) => places.map((place) => (place < 0 ? null : (row[place] as Cell))));
  }
}
