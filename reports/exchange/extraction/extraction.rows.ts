import type { Condition, Fragment } from '../../../domain/kernel/lists/lists.types.ts';
import { embed, fragment } from '../../../platform/database.ts';
import { entireTable, type IdRange, type Snapshot } from '../../../platform/snapshot.ts';
import { selectList } from '../../kernel/formats/binary-rows.ts';
import type { BinaryTable, Column } from '../../kernel/formats/formats.types.ts';

/** A join that only some columns need. */
export interface ColumnJoin {
  columns: string[];
  /** @param isChanged whether only the objects in `changed x` are read. */
  join(range: IdRange, isChanged: boolean): string;
}

/** The objects that an extraction reads. */
export interface RowSource {
  name: string;
  /** Table of the objects and its alias. */
  table: 'cards' | 'relations';
  row: 'c' | 'r';
  /** Joins that all columns may need. */
  joins: string;
  columnJoins: readonly ColumnJoin[];
  /** SQL of the columns by header; a list is the text of a JSON array. */
  values: Readonly<Record<string, string>>;
  /** The attributes that the caller may see. */
  attributes: Condition;
  where: Condition;
  /**
   * Only objects that may have changed: rows of `id`, `type`, `position` and `known` (an earlier extraction may have contained it).
   */
  changed?: Fragment | undefined;
}

/** The columns of an extraction of changes, after all others. */
export const changeColumns: Column[] = [
  { header: 'deleted', type: 'boolean' },
  { header: 'removed', type: 'boolean' },
  { header: 'position', type: 'key' },
];

/** Rows up to which one statement is faster than one for each range of ids. */
const FEW = 2_000;

const changeValues: Record<string, string> = { deleted: 'null', removed: 'null', position: 'x.position' };

/** The values of an object that is deleted or no longer selected. */
const goneValues: Record<string, string> = {
  id: 'g.id',
  type: 'g.type',
  deleted: 'nullif(g.deleted, false)',
  removed: 'nullif(not g.deleted, false)',
  position: 'g.position',
};

/** The objects of a source in a range of ids, ordered by id. */
function presentRows(source: RowSource, columns: Column[], range: IdRange): Fragment {
  const { table, row, joins, columnJoins, attributes, where, changed } = source;
  const values: Record<string, string> = { attributes: "nullif(o.attributes, '{}')", ...source.values };
  if (changed) Object.assign(values, changeValues);
  const needed = columnJoins
    .filter((one) => columns.some(({ header }) => one.columns.includes(header)))
    .map(({ join }) => join(range, changed !== undefined));
  const from = changed ? `changed x join ${table} ${row} on ${row}.id = x.id` : `${table} ${row}`;
  // a condition on costs is evaluated once per object
  const once = attributes.bindings.length > 0 ? ' offset 0' : '';
  return fragment`select ${embed(selectList(columns, (header) => values[header]!, values.attributes!))}
      from ${embed(from)} ${embed(joins)} cross join lateral (select ${embed(attributes)} as attributes${embed(once)}) o ${embed(needed.join(' '))}
      where ${embed(range(`${row}.id`))} and ${embed(where)} order by ${embed(row)}.id`;
}

/** The known changed objects that are deleted or no longer selected. */
function goneRows({ table, row, where }: RowSource, columns: Column[]): Fragment {
  const id = embed(`${row}.id`);
  return fragment`select ${embed(selectList(columns, (header) => goneValues[header] ?? 'null', 'null'))}
      from (select x.id, x.type, ${id} is null as deleted, x.position
        from changed x left join ${embed(`${table} ${row}`)} on ${id} = x.id
        where x.known and (${id} is null or (${embed(where)}) is not true)) g order by g.id`;
}

/** Reads a source from the snapshot, oldest object first; in an extraction of changes, removed objects come first. */
export async function readRows(
  snapshot: Snapshot,
  source: RowSource,
  columns: Column[],
): Promise<BinaryTable> {
  const { name, table, changed } = source;
  const statement = (range: IdRange) => presentRows(source, columns, range);
  const all = statement(entireTable);
  if (changed) {
    const { sql, bindings } = fragment`with changed as materialized (${embed(changed)})
      (${embed(goneRows(source, columns))}) union all (${embed(all)})`;
    return { name, columns, expected: 0, chunks: () => snapshot.lines('rows', sql, bindings) };
  }
  const expected = await snapshot.expected(all.sql, all.bindings);
  const chunks = () =>
    expected < FEW
      ? snapshot.lines('rows', all.sql, all.bindings)
      : snapshot.ranges('rows', table, statement);
  return { name, columns, expected, chunks };
}
