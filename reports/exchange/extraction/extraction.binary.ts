import type { Snapshot } from '../../../platform/snapshot.ts';
import type { Column, ColumnType } from '../../kernel/formats/formats.types.ts';
import { withAttributes } from './extraction.ndjson.ts';
import { type Join, type LineTable, lineTable, type RowSource } from './extraction.rows.ts';
import { arrayColumns } from './extraction.shape.ts';

/** Values by header, and the joins that they need. */
export interface BinaryMembers {
  /** SQL of the value; several values are the text of a JSON array, days are texts. */
  members: Record<string, string>;
  joins: readonly Join[];
}

/** As which type the database sends the values of a column. */
const sent: Record<ColumnType, string> = {
  text: 'text',
  key: 'text',
  multi: 'text',
  date: 'text',
  number: 'float8',
  boolean: 'boolean',
  datetime: 'timestamptz',
};

const changeMembers: Record<string, string> = { deleted: 'null', removed: 'null', position: 'x.position' };

const goneMembers: Record<string, string> = {
  id: 'g.id',
  type: 'g.type',
  deleted: 'nullif(g.deleted, false)',
  removed: 'nullif(not g.deleted, false)',
  position: 'g.position',
};

/**
 * The objects of a source as the database itself has them, from the snapshot, oldest first: the values of
 * {@link arrayColumns}, and the attributes as one JSON object. It writes no value as text that is none, and nobody has to read
 * a text to find where it ends.
 */
export async function binaryRows(
  snapshot: Snapshot,
  source: RowSource,
  { members, joins }: BinaryMembers,
  columns: Column[],
): Promise<LineTable> {
  const known = source.gone ? { ...members, ...changeMembers } : members;
  const placed = arrayColumns(columns);
  const list = (values: Record<string, string>, attributes: string) =>
    [...placed.map(({ header, type }) => `(${values[header] ?? 'null'})::${sent[type]}`), attributes].join(
      ', ',
    );
  return await lineTable(snapshot, 'rows', withAttributes(source), columns, {
    cells: { sql: list(known, "nullif(o.attributes, '{}')::text"), bindings: [] },
    joins,
    goneCells: list(goneMembers, 'null::text'),
  });
}
