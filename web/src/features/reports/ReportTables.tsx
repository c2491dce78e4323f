import { Link } from '@tanstack/react-router';
import type { Chart, ChartUnit } from '../../../../reports/kernel/charts/charts.types.ts';
import { type ChartTable, tablesOf } from '../../kit/chartTable.ts';
import { type DataColumn, DataTable } from '../../kit/DataTable.tsx';
import { useFormat } from '../../kit/format.ts';
import { useTexts } from '../../kit/messages.tsx';
import styles from './reports.module.css';

type Row = ChartTable['rows'][number];

interface TablesProps {
  chart: Chart;
  sort: string | undefined;
  onSort(sort: string): void;
}

/** The numbers of a report's picture as tables. */
export function ReportTables({ chart, sort, onSort }: TablesProps) {
  const t = useTexts();
  return (
    <div className={styles.tables}>
      {tablesOf(chart, t).map((table) => (
        <OneTable key={table.title} table={table} sort={sort} onSort={onSort} />
      ))}
    </div>
  );
}

function OneTable({ table, sort, onSort }: Omit<TablesProps, 'chart'> & { table: ChartTable }) {
  const { number, money, percent, date } = useFormat();
  const written = (cell: string | number | null | undefined, unit: ChartUnit = 'number') => {
    if (cell === null || cell === undefined) return '–';
    if (typeof cell === 'string') return /^\d{4}-\d\d-\d\d$/.test(cell) ? date(cell) : cell;
    return unit === 'currency' ? money(cell) : unit === 'percent' ? percent(cell) : number(cell);
  };
  const columns = table.columns.map(
    ({ title, unit }, at): DataColumn<Row> => ({
      key: String(at),
      title,
      isNumber: unit !== undefined,
      width: at === 0 ? 240 : 150,
      value: ({ cells }) => cells[at],
      cell: ({ ref, cells, unit: own }) =>
        at === 0 && ref ? (
          <Link to="/cards/$id" params={{ id: ref }} className={styles.link}>
            {written(cells[at])}
          </Link>
        ) : (
          written(cells[at], own ?? unit)
        ),
    }),
  );
  return (
    <section className={styles.oneTable} style={{ '--rows': table.rows.length } as object}>
      <h2>{table.title}</h2>
      <DataTable label={table.title} columns={columns} rows={table.rows} sort={sort} onSort={onSort} />
    </section>
  );
}
