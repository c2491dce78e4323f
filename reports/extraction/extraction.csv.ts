import type { FieldType } from '../../domain/metamodel/metamodel.types.ts';
import { literal } from '../../platform/literals.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import { type Join, type LineTable, lineTable, type RowSource } from './extraction.rows.ts';
import type { Column } from './extraction.types.ts';

// What `domain/transfer/csv-cells.ts` says of cells, as SQL. Quotes are COPY's affair.

/** A text for a cell; with `guard`, one that a spreadsheet would calculate has an apostrophe in front. */
export function csvText(value: string, guard: boolean): string {
  // the code of the first character tells at once that most texts need nothing
  return guard
    ? `case when ascii(${value}) in (9, 13, 39, 43, 45, 61, 64)
        then case when ${value} ~ '^''*[=+@\\t\\r-]' then '''' else '' end || ${value} else nullif(${value}, '') end`
    : `nullif(${value}, '')`;
}

/** A text with a backslash before each of the characters, given as they stand in a bracket expression. */
export function escapedText(value: string, characters: string): string {
  return `regexp_replace(${value}, '[${characters}]', '\\\\\\&', 'g')`;
}

/** A member of the JSON object `object` for a cell of a field of that type. */
function csvMember(object: string, key: string, type: FieldType, guard: boolean): string {
  const name = literal(key);
  const value = `(${object} ->> ${name})`;
  switch (type) {
    case 'text':
    case 'multiline_text':
    case 'url':
      return csvText(value, guard);
    case 'multiple_select':
      return `case when jsonb_typeof(${object} -> ${name}) = 'array' then (select string_agg(${escapedText('x', '\\\\;')}, ';')
          from jsonb_array_elements_text(${object} -> ${name}) x) end`;
    // options, numbers, days and yes or no are never calculated
    default:
      return value;
  }
}

/** From how many types on it is quicker to look into every object than at its type. */
const MANY = 4;

/**
 * The column `attributes.<key>` of objects of several types: as few as may be are looked into, since an object fills
 * a tenth of the columns that all types have together.
 * @param typeOf SQL of the type's key. @param fieldOf the field's type in a type, undefined where it has none.
 */
export function csvAttribute(
  object: string,
  typeOf: string,
  types: readonly string[],
  key: string,
  fieldOf: (type: string) => FieldType | undefined,
  guard: boolean,
): string {
  const cases = new Map<string, string[]>();
  for (const type of types) {
    const field = fieldOf(type);
    if (!field) continue;
    const cell = csvMember(object, key, field, guard);
    cases.set(cell, [...(cases.get(cell) ?? []), type]);
  }
  const [only] = cases;
  if (only && cases.size === 1 && (only[1].length >= MANY || only[1].length === types.length)) return only[0];
  const branches = [...cases].map(([cell, those]) => {
    return `when ${typeOf} in (${those.map(literal).join(', ')}) then ${cell}`;
  });
  return `case ${branches.join(' ')} end`;
}

/** What is written of one kind of object. */
export interface CsvCells {
  /** Cells by header that hold no text which could be calculated. */
  plain: Record<string, string>;
  texts: Record<string, string>;
  /** Joins that only cells need. */
  joins: readonly Join[];
}

const changeCells: Record<string, string> = { deleted: 'null', removed: 'null', position: 'x.position' };

const goneCells: Record<string, string> = {
  id: 'g.id',
  type: 'g.type',
  deleted: "case when g.deleted then 'true' end",
  removed: "case when not g.deleted then 'true' end",
  position: 'g.position',
};

/** The objects of a source as lines of CSV, from the snapshot, oldest first. */
export async function csvTable(
  snapshot: Snapshot,
  source: RowSource,
  { plain, texts, joins }: CsvCells,
  columns: Column[],
  guard: boolean,
): Promise<LineTable> {
  const { row, attributes, types } = source;
  // cut once for all columns
  const cut = attributes.bindings.length > 0;
  const object = cut ? 'cut.attributes' : attributes.sql;
  const cells = columns.map(({ header }) => {
    if (header in plain) return plain[header]!;
    if (header in texts) return csvText(texts[header]!, guard);
    if (source.gone && header in changeCells) return changeCells[header]!;
    const key = header.slice('attributes.'.length);
    const fieldOf = (type: string) => source.fieldOf(type, key);
    return csvAttribute(object, `${row}.type`, types, key, fieldOf, guard);
  });
  const lateral = `cross join lateral (select ${attributes.sql} as attributes offset 0) cut`;
  const from = cut
    ? {
        sql: `${source.from.sql} ${lateral}`,
        bindings: [...source.from.bindings, ...attributes.bindings],
      }
    : source.from;
  return await lineTable(snapshot, 'csv', { ...source, from }, columns, {
    cells: { sql: cells.join(', '), bindings: [] },
    joins,
    goneCells: columns.map(({ header }) => goneCells[header] ?? 'null').join(', '),
  });
}
