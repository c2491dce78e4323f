import type { FieldType } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import type { Snapshot } from '../../../platform/snapshot.ts';
import { type CsvColumn, type CsvKind, csvRows, type MemberKind } from '../../kernel/formats/csv.rows.ts';
import type { Column } from '../../kernel/formats/formats.types.ts';
import { withAttributes } from './extraction.ndjson.ts';
import { type Join, type LineTable, lineTable, type RowSource } from './extraction.rows.ts';

// What `domain/kernel/transfer/csv-cells.ts` says of cells, as SQL for what COPY quotes, and of extractions.

/** A text for a cell; with `guard`, one that a spreadsheet would calculate has an apostrophe in front. */
export function csvText(value: string, guard: boolean): string {
  // the code of the first character tells at once that most texts need nothing
  return guard
    ? `case when ascii(${value}) in (9, 13, 39, 43, 45, 61, 64, 65291, 65293, 65309, 65312)
        then case when ${value} ~ '^''*[=+@＝＋－＠\\t\\r-]' then '''' else '' end || ${value} else nullif(${value}, '') end`
    : `nullif(${value}, '')`;
}

/** A text with a backslash before each of the characters, given as they stand in a bracket expression. */
export function escapedText(value: string, characters: string): string {
  return `regexp_replace(${value}, '[${characters}]', '\\\\\\&', 'g')`;
}

/** How a field of that type becomes a cell. */
function memberKind(type: FieldType): MemberKind {
  switch (type) {
    case 'text':
    case 'multiline_text':
    case 'url':
      return 'text';
    case 'multiple_select':
      return 'list';
    // options, numbers, days and yes or no are never calculated
    default:
      return 'plain';
  }
}

/** From how many types on a field that is the same in all of them is looked for in every object. */
const MANY = 4;

/**
 * The column of a member of objects of several types.
 * @param fieldOf the field's type in a type, undefined where it has none.
 */
export function memberColumn(
  types: readonly string[],
  key: string,
  fieldOf: (type: string) => FieldType | undefined,
): CsvColumn {
  const kinds = new Map<string, MemberKind>();
  for (const type of types) {
    const field = fieldOf(type);
    if (field) kinds.set(type, memberKind(field));
  }
  const [only, ...others] = new Set(kinds.values());
  const common = others.length === 0 && (kinds.size >= MANY || kinds.size === types.length);
  return { key, kindIn: common ? () => only : (type) => kinds.get(type) };
}

/** A value for a cell. */
export interface CsvMember {
  sql: string;
  kind: CsvKind;
}

/** The values of SQL of one kind, by header. */
export const csvMembers = (kind: CsvKind, values: Record<string, string>): Record<string, CsvMember> =>
  Object.fromEntries(Object.entries(values).map(([header, sql]) => [header, { sql, kind }]));

/** Values by header, and the joins that they need. */
export interface CsvCells {
  members: Record<string, CsvMember>;
  joins: readonly Join[];
}

/** As which type the database sends a value. */
const sent: Record<CsvKind, string> = {
  plain: 'text',
  text: 'text',
  id: 'uuid',
  number: 'float8',
  time: 'timestamptz',
};

const changeMembers: Record<string, CsvMember> = {
  deleted: { sql: 'null', kind: 'plain' },
  removed: { sql: 'null', kind: 'plain' },
  position: { sql: 'x.position', kind: 'plain' },
};

const goneMembers: Record<string, string> = {
  id: 'g.id',
  type: 'g.type',
  deleted: "case when g.deleted then 'true' end",
  removed: "case when not g.deleted then 'true' end",
  position: 'g.position',
};

const PREFIX = 'attributes.';

/** The objects of a source as lines of CSV, from the snapshot, oldest first. */
export async function csvTable(
  snapshot: Snapshot,
  source: RowSource,
  { members, joins }: CsvCells,
  columns: Column[],
  guard: boolean,
): Promise<LineTable> {
  const { row, types } = source;
  const known = source.gone ? { ...members, ...changeMembers } : members;
  const placed = columns.filter(({ header }) => header in known).map(({ header }) => header);
  const lines = columns.map(({ header }): CsvColumn => {
    const member = known[header];
    if (member) return { kind: member.kind };
    const key = header.slice(PREFIX.length);
    return memberColumn(types, key, (type) => source.fieldOf(type, key));
  });
  const list = (type: string, sqlOf: (header: string) => string, attributes: string): string =>
    [
      `(${type})::text`,
      ...placed.map((header) => `(${sqlOf(header)})::${sent[known[header]!.kind]}`),
      attributes,
    ].join(', ');
  return await lineTable(snapshot, csvRows(lines, guard), withAttributes(source), columns, {
    cells: {
      sql: list(`${row}.type`, (header) => known[header]!.sql, 'o.attributes'),
      bindings: [],
    },
    joins,
    goneCells: list('g.type', (header) => goneMembers[header] ?? 'null', 'null::jsonb'),
  });
}
