import { type ChartContext, typeLabel } from '../../kernel/charts/charts.labels.ts';
import type { Chart } from '../../kernel/charts/charts.types.ts';

interface Line {
  id: string;
  name: string;
}

/** A cell for each pair that is related; rows and columns with the most relations first. */
export function matrixChart(
  answer: { rows: Line[]; columns: Line[]; intersections: { row_id: string; col_id: string }[] },
  { row_type, col_type }: { row_type: string; col_type: string },
  context: ChartContext,
): Chart {
  const rows = ranked(
    answer.rows,
    answer.intersections.map(({ row_id }) => row_id),
  );
  const columns = ranked(
    answer.columns,
    answer.intersections.map(({ col_id }) => col_id),
  );
  const rowAt = new Map(rows.map(({ id }, index) => [id, index]));
  const columnAt = new Map(columns.map(({ id }, index) => [id, index]));
  return {
    kind: 'matrix',
    title: `${typeLabel(context, row_type)} by ${typeLabel(context, col_type)}`,
    note: 'A cell is filled where the two are related; those with the most relations come first',
    rowAxis: typeLabel(context, row_type),
    columnAxis: typeLabel(context, col_type),
    valueAxis: 'Related',
    unit: 'count',
    rows: rows.map(({ name }) => name),
    columns: columns.map(({ name }) => name),
    cells: answer.intersections.map(({ row_id, col_id }): [number, number, number] => [
      rowAt.get(row_id)!,
      columnAt.get(col_id)!,
      1,
    ]),
  };
}

/** Lines by the number of their relations, the most first. */
function ranked(lines: Line[], ends: string[]): Line[] {
  const counts = new Map<string, number>();
  for (const id of ends) counts.set(id, (counts.get(id) ?? 0) + 1);
  return lines.toSorted((a, b) => (counts.get(b.id) ?? 0) - (counts.get(a.id) ?? 0));
}
