import type { ReportQuery } from '../../../domain/inventory/reports/report.job.ts';
import type { Cell, Table } from '../../kernel/formats/formats.types.ts';
import { knownText } from '../../kernel/report.texts.ts';
import type { QueryColumn, QueryPlan } from './query.plan.ts';
import { dimensionTitle, measureTitle, type NamedMetamodel, valueTitle } from './query.titles.ts';

/** A table of all groups with titles and labels in place of names and keys. @param metamodel with the labels of the language. */
export function labelledQuery(
  table: Table,
  { dimensions, measures }: ReportQuery,
  plan: QueryPlan,
  metamodel: NamedMetamodel,
): Table {
  const headers = [
    ...dimensions.map((asked, n) => {
      const column = plan.columns[n]!;
      const own = columnOf(column);
      if (asked.as !== undefined) return asked.as;
      // ids are recognised by their names
      if (own?.endsWith('id')) return column.name;
      const known =
        own && !column.shows!.isFar && !asked.bucket ? knownText(metamodel, 'column', own) : undefined;
      return known ?? dimensionTitle(metamodel, asked, column);
    }),
    ...measures.map((asked, n) => {
      const column = plan.columns[dimensions.length + n]!;
      const counts = asked.as === undefined && !column.shows;
      return (counts && knownText(metamodel, 'column', 'count')) || measureTitle(metamodel, asked, column);
    }),
  ];
  const labels = plan.columns.map((column, n) => (n < dimensions.length ? labelOf(metamodel, column) : same));
  return {
    ...table,
    columns: table.columns.map((column, n) => ({ ...column, header: headers[n]! })),
    batches: mapped(table.batches, (row) => row.map((cell, n) => labels[n]!(cell))),
  };
}

const same = (cell: Cell): Cell => cell;

/** The column of cards that it shows. */
const columnOf = ({ shows }: QueryColumn): string | undefined =>
  shows?.target?.kind === 'column' ? shows.target.column : undefined;

/** The label of a key; other values stay. */
function labelOf(metamodel: NamedMetamodel, column: QueryColumn): (cell: Cell) => Cell {
  const own = columnOf(column);
  if (column.type !== 'key' || own?.endsWith('id')) return same;
  const isState = own === 'status' || own === 'approval_status';
  return (cell) => {
    if (typeof cell !== 'string') return cell;
    return (isState && knownText(metamodel, 'value', cell)) || valueTitle(metamodel, column, cell);
  };
}

async function* mapped(
  batches: Table['batches'],
  label: (row: readonly Cell[]) => readonly Cell[],
): AsyncGenerator<(readonly Cell[])[]> {
  for await (const batch of batches) yield Array.from(batch, label);
}
