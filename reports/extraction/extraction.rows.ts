import type { Condition, Fragment } from '../../domain/lists/lists.types.ts';
import type { FieldType } from '../../domain/metamodel/metamodel.types.ts';
import type { CopiedLines } from '../../platform/copy-out.ts';
import type { Snapshot } from '../../platform/snapshot.ts';
import type { Column } from './extraction.types.ts';

/** Where the rows of a table stand, over the alias `row` of its objects. */
export interface RowSource {
  /** Name of the table. */
  name: string;
  row: string;
  /** The attributes that the caller may see; without bindings, a column as it is. */
  attributes: Condition;
  /** Keys of the types that are written, and the type of a field in one of them. */
  types: readonly string[];
  fieldOf(type: string, key: string): FieldType | undefined;
  /** The table and what its condition needs; the objects that have changed are joined as `x`. */
  from: Fragment;
  where: Condition;
  /** Objects that are no longer there: `id`, `type`, whether `deleted` for good, and `position`. */
  gone?: Fragment;
}

/** The columns of an extraction of changes, after all others. */
export const changeColumns: Column[] = [
  { header: 'deleted', type: 'boolean' },
  { header: 'removed', type: 'boolean' },
  { header: 'position', type: 'key' },
];

/** A table whose lines the database writes, which saves the time to send, parse and join every value. */
export interface LineTable {
  name: string;
  columns: Column[];
  /** About how many rows there are, for progress. */
  expected: number;
  lines: AsyncIterable<CopiedLines>;
}

/** A statement that makes lines, with `?` for its values. */
export interface LineQuery {
  /** What is selected of each object, over the source's aliases. */
  cells: Fragment;
  /** Joins that only cells need. */
  joins: readonly string[];
  /** The same of objects that are gone, over the alias `g`. */
  goneCells: string;
}

/** The statement that selects `cells` of the objects of a source, oldest first. */
export function sourceQuery(source: RowSource, cells: Fragment, joins: readonly string[]): Fragment {
  const { from, where, row } = source;
  return {
    sql: `select ${cells.sql} from ${from.sql} ${joins.join(' ')} where ${where.sql} order by ${row}.id`,
    bindings: [...cells.bindings, ...from.bindings, ...where.bindings],
  };
}

/** The statement that selects `cells` of the objects `g` that are gone. */
export function goneQuery(gone: Fragment, cells: string): Fragment {
  return { sql: `select ${cells} from (${gone.sql}) g order by g.id`, bindings: gone.bindings };
}

/** The lines of a source from the snapshot: of what is gone, and of what is there. */
export async function lineTable(
  snapshot: Snapshot,
  format: 'csv' | 'json',
  source: RowSource,
  columns: Column[],
  query: LineQuery,
): Promise<LineTable> {
  const { gone } = source;
  const rows = sourceQuery(source, query.cells, query.joins);
  async function* lines(): AsyncGenerator<CopiedLines> {
    if (gone) {
      const first = goneQuery(gone, query.goneCells);
      yield* snapshot[format](first.sql, first.bindings);
    }
    yield* snapshot[format](rows.sql, rows.bindings);
  }
  const expected = await snapshot.expected(rows.sql, rows.bindings);
  return { name: source.name, columns, expected, lines: lines() };
}
