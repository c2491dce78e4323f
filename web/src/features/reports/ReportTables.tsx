import { Link } from '@tanstack/react-router';
import type { Chart } from '../../../../reports/kernel/charts/charts.types.ts';
import { type ChartTable, tablesOf } from '../../kit/chartTable.ts';
import { type DataColumn, DataTable } from '../../kit/DataTable.tsx';
import { useFormat } from '../../kit/format.ts';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import styles from './reports.module.css';

/** Names of columns that charts leave open. */
const standing: Record<string, MessageKey> = { '–': 'field.name', '↑': 'query.group' };

type Row = ChartTable['rows'][number];

interface TablesProps {
  chart: Chart;
  sort: string | undefined;
  onSort(sort: string): void;
}

/** The numbers of a report's picture as tables. */
export function ReportTables({ chart, sort, onSort }: TablesProps) {
  return (
    <div className={styles.tables}>
      {tablesOf(chart).map((table) => (
        <OneTable key={table.title} table={table} sort={sort} onSort={onSort} />
      ))}
    </div>
  );
}

function OneTable({ table, sort, onSort }: Omit<TablesProps, 'chart'> & { table: ChartTable }) {
  const t = useTexts();
  const { number, date } = useFormat();
  const written = (cell: string | number | null) => {
    if (cell === null) return '–';
    if (typeof cell === 'number') return number(cell);
    return /^\d{4}-\d\d-\d\d$/.test(cell) ? date(cell) : cell;
  };
  const columns = table.columns.map(
    ({ title, isNumber }, at): DataColumn<Row> => ({
      key: String(at),
      title: title in standing ? t(standing[title]!) : title,
      isNumber,
      width: at === 0 ? 260 : isNumber ? 140 : 180,
      value: ({ cells }) => cells[at],
      cell: ({ ref, cells }) =>
        at === 0 && ref ? (
          <Link to="/cards/$id" params={{ id: ref }} className={styles.link}>
            {written(cells[at]!)}
          </Link>
        ) : (
          written(cells[at] ?? null)
        ),
    }),
  );
  return (
    <section className={styles.oneTable}>
      <h2>{table.title}</h2>
      <DataTable label={table.title} columns={columns} rows={table.rows} sort={sort} onSort={onSort} />
    </section>
  );
}
