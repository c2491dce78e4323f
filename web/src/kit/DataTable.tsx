import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, type ReactNode, useMemo, useRef } from 'react';
import styles from './data-table.module.css';
import { Icon } from './Icon.tsx';

export interface DataColumn<R> {
  key: string;
  title: string;
  width: number;
  /** Numbers stand at the right. */
  isNumber?: boolean;
  /** What the column is sorted by; without a value a row stands last. */
  value(row: R): string | number | null | undefined;
  /** Default: the value. */
  cell?(row: R): ReactNode;
}

interface DataTableProps<R> {
  label: string;
  columns: readonly DataColumn<R>[];
  rows: readonly R[];
  /** A column's key, with `-` before it for descending; without it the rows keep their order. */
  sort?: string | undefined;
  onSort(sort: string): void;
}

const ROW = 32;

/** Rows in the order of a column; those without a value last. */
function sorted<R>(rows: readonly R[], columns: readonly DataColumn<R>[], sort: string | undefined) {
  const column = columns.find(({ key }) => key === sort?.replace(/^-/, ''));
  if (!column) return rows;
  const sign = sort!.startsWith('-') ? -1 : 1;
  const compare = new Intl.Collator(undefined, { numeric: true }).compare;
  return rows.toSorted((one, other) => {
    const [a, b] = [column.value(one) ?? null, column.value(other) ?? null];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : compare(String(a), String(b)));
  });
}

/** A table of any number of rows that are in memory: only the visible ones exist. */
export function DataTable<R>({ label, columns, rows, sort, onSort }: DataTableProps<R>) {
  const scroll = useRef<HTMLDivElement>(null);
  const shown = useMemo(() => sorted(rows, columns, sort), [rows, columns, sort]);
  const virtual = useVirtualizer({
    count: shown.length,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: 12,
  });
  const onKeyDown = (event: KeyboardEvent) => {
    const page = (scroll.current?.clientHeight ?? 0) - 2 * ROW;
    const step = { ArrowDown: ROW, ArrowUp: -ROW, PageDown: page, PageUp: -page }[event.key];
    if (step === undefined || event.target !== scroll.current) return;
    scroll.current?.scrollBy({ top: step });
    event.preventDefault();
  };
  return (
    <div
      className={styles.scroll}
      style={{ '--rows': shown.length } as object}
      ref={scroll}
      role="table"
      aria-label={label}
      aria-rowcount={shown.length + 1}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls is reachable by keyboard
      tabIndex={0}
      onKeyDown={onKeyDown}
    >
      <div className={styles.head} role="row" aria-rowindex={1}>
        {columns.map((column) => (
          <HeadCell key={column.key} column={column} sort={sort} onSort={onSort} />
        ))}
      </div>
      <div className={styles.rows} style={{ height: virtual.getTotalSize() }} role="rowgroup">
        {virtual.getVirtualItems().map(({ index, start }) => (
          <div
            key={index}
            className={styles.row}
            style={{ transform: `translateY(${start}px)` }}
            role="row"
            aria-rowindex={index + 2}
          >
            {columns.map((column) => (
              <div
                key={column.key}
                className={column.isNumber ? `${styles.cell} ${styles.number}` : styles.cell}
                style={{ flexGrow: column.width, flexBasis: column.width }}
                role="cell"
              >
                {column.cell ? column.cell(shown[index]!) : (column.value(shown[index]!) ?? '–')}
              </div>
            ))}
          </div>
        ))}
      </div>
    </div>
  );
}

interface HeadCellProps<R> {
  column: DataColumn<R>;
  sort: string | undefined;
  onSort(sort: string): void;
}

function HeadCell<R>({ column, sort, onSort }: HeadCellProps<R>) {
  const isSorted = sort?.replace(/^-/, '') === column.key;
  const isDescending = isSorted && sort!.startsWith('-');
  return (
    <div
      className={styles.headSlot}
      style={{ flexGrow: column.width, flexBasis: column.width }}
      role="columnheader"
      aria-sort={isSorted ? (isDescending ? 'descending' : 'ascending') : 'none'}
    >
      <button
        type="button"
        className={column.isNumber ? `${styles.headCell} ${styles.number}` : styles.headCell}
        title={column.title}
        onClick={() => onSort(isSorted && !isDescending ? `-${column.key}` : column.key)}
      >
        <span>{column.title}</span>
        {isSorted && <Icon name={isDescending ? 'arrow_downward' : 'arrow_upward'} size={14} />}
      </button>
    </div>
  );
}
