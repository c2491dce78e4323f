import type { Condition, Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import type { FieldType } from '../../../domain/kernel/metamodel/metamodel.types.ts';
import type { CopiedLines, CopyForm } from '../../../platform/copy-out.ts';
import { type IdRange, type Snapshot, wholeTable } from '../../../platform/snapshot.ts';
import type { Column } from '../../kernel/formats/formats.types.ts';
import { type Found, findChanged, overFound, worthwhile } from './changes.found.ts';

/** Where the rows of a table stand, over the alias `row` of its objects. */
export interface RowSource {
  /** Name of the table. */
  name: string;
  /** The database's table of its objects. */
  stored: 'cards' | 'relations';
  row: string;
  /** The attributes that the caller may see; without bindings, a column as it is. */
  attributes: Condition;
  /** Keys of the types that are written, and the type of a field in one of them. */
  types: readonly string[];
  fieldOf(type: string, key: string): FieldType | undefined;
  /** What may have changed, where only that is wanted: known as `changed` to `from` and `gone`. */
  changed?: Fragment;
  /** The table and what its condition needs; what may have changed is joined as `x`. */
  from: Fragment;
  where: Condition;
  /** Whether none of `gone` is known beforehand. */
  remain?: boolean;
  /** What may have changed, where that is known beforehand. */
  found?: Found;
  /** Objects that are no longer there: `id`, `type`, whether `deleted` for good, and `position`. */
  gone?: Fragment;
}

/** The columns of an extraction of changes, after all others. */
export const changeColumns: Column[] = [
  { header: 'deleted', type: 'boolean' },
  { header: 'removed', type: 'boolean' },
  { header: 'position', type: 'key' },
];

/** Expected rows up to which one statement finds them sooner than one after the other for all ranges of ids. */
const FEW = 2_000;

/** A table whose lines are made of what the database sends, without an object for any value. */
export interface LineTable {
  name: string;
  columns: Column[];
  /** About how many rows there are, for progress. */
  expected: number;
  /** To be read once. */
  lines(): AsyncIterable<CopiedLines>;
}

/** SQL of a join for the objects of a range of ids. */
export type Join = (range: IdRange) => string;

/** A statement that makes lines, with `?` for its values. */
export interface LineQuery {
  /** What is selected of each object, over the source's aliases. */
  cells: Fragment;
  /** Joins that only cells need. */
  joins: readonly Join[];
  /** The same of objects that are gone, over the alias `g`. */
  goneCells: string;
}

/** The statement that selects `cells` of the objects of a source, oldest first. */
export function sourceQuery(
  source: RowSource,
  cells: Fragment,
  joins: readonly Join[],
  range: IdRange = wholeTable,
): Fragment {
  const { from, where, row } = source;
  const joined = joins.map((join) => join(range)).join(' ');
  return withChanged(source, {
    sql: `select ${cells.sql} from ${from.sql} ${joined}
      where ${range(`${row}.id`)} and ${where.sql} order by ${row}.id`,
    bindings: [...cells.bindings, ...from.bindings, ...where.bindings],
  });
}

function goneRows(gone: Fragment, cells: string): Fragment {
  return { sql: `select ${cells} from (${gone.sql}) g order by g.id`, bindings: gone.bindings };
}

function withChanged({ changed }: RowSource, { sql, bindings }: Fragment): Fragment {
  if (!changed) return { sql, bindings };
  return {
    sql: `with changed as materialized (${changed.sql}) ${sql}`,
    bindings: [...changed.bindings, ...bindings],
  };
}

/** The statement that selects `cells` of the objects `g` that are gone. */
export function goneQuery(source: RowSource, gone: Fragment, cells: string): Fragment {
  return withChanged(source, goneRows(gone, cells));
}

/** The lines of a source from the snapshot: of what is gone, and of what is there. */
export async function lineTable(
  snapshot: Snapshot,
  form: CopyForm,
  source: RowSource,
  columns: Column[],
  query: LineQuery,
): Promise<LineTable> {
  const { name, gone, changed, ...rest } = source;
  const statement = (range: IdRange) => sourceQuery({ name, ...rest }, query.cells, query.joins, range);
  const rows = statement(wholeTable);
  if (!gone) {
    const expected = await snapshot.expected(rows.sql, rows.bindings);
    const lines = () =>
      expected < FEW
        ? snapshot.lines(form, rows.sql, rows.bindings)
        : snapshot.ranges(form, source.stored, statement);
    return { name, columns, expected, lines };
  }
  const first = goneRows(gone, query.goneCells);
  const found = source.found ?? (await findChanged(snapshot, changed!, source.remain ? undefined : gone));
  if (found) {
    const parts = (connections: number) => [
      ...(found.gone ? [withChanged(source, first)] : []),
      ...overFound(found, connections, rows),
    ];
    const lines = () => snapshot.parts(form, worthwhile(found.ids.length), parts);
    return { name, columns, expected: 0, lines };
  }
  // one statement, so that what has changed is looked for once more and not for each part
  const all = withChanged(source, {
    sql: `(${first.sql}) union all (${rows.sql})`,
    bindings: [...first.bindings, ...rows.bindings],
  });
  const lines = () => snapshot.lines(form, all.sql, all.bindings);
  return { name, columns, expected: 0, lines };
}
