import { useFormat } from '../../kit/format.ts';
import { useTexts } from '../../kit/messages.tsx';
import { useCounts } from './counts.ts';
import type { InventorySearch } from './inventory.search.ts';
import type { ShownColumn } from './layout.ts';
import { selectionOf } from './rows.ts';
import styles from './table.module.css';

/** Sums and averages of the columns, of all cards of the filter. */
function useTotals(search: InventorySearch, columns: readonly ShownColumn[]) {
  const fields = columns.filter(({ total }) => total).map(({ key }) => key);
  const query = { ...selectionOf(search), facets: 'status', numbers: fields.join(',') };
  const { data } = useCounts(query, fields.length > 0);
  return new Map(data?.numbers?.map((one) => [one.field, one]));
}

/** How many cards there are. */
function CardCount({ total }: { total: number }) {
  const t = useTexts();
  const { number } = useFormat();
  return (
    <span>
      <strong>{number(total)}</strong> {t('inventory.cards', { count: total })}
    </span>
  );
}

interface GridFootProps {
  search: InventorySearch;
  columns: readonly ShownColumn[];
  total: number;
  /** The line of the row, for screen readers. */
  line: number;
}

/** A figure of all cards of the filter as a text; nothing for columns without one. */
function useFigure(search: InventorySearch, columns: readonly ShownColumn[]) {
  const { number, money, percent } = useFormat();
  const totals = useTotals(search, columns);
  return ({ key, total: kind, isMoney }: ShownColumn) => {
    const found = totals.get(key);
    if (!found || found.count === 0) return null;
    if (kind === 'average') return `⌀ ${percent(found.average!)}`;
    return isMoney ? money(found.sum) : number(found.sum);
  };
}

/** The foot of the list on phones: how many cards there are, and the figures of all of them. */
export function LinesFoot({ search, columns, total }: Omit<GridFootProps, 'line'>) {
  const figure = useFigure(search, columns);
  return (
    <>
      <CardCount total={total} />
      {columns.map((column) => {
        const text = figure(column);
        return text === null ? null : (
          <span key={column.key}>
            <span className="secondary">{column.title}</span> <strong>{text}</strong>
          </span>
        );
      })}
    </>
  );
}

/** The row at the foot: how many cards there are, and the figures of all of them. */
export function GridFoot({ search, columns, total, line }: GridFootProps) {
  const textOf = useFigure(search, columns);
  return (
    <div className={styles.foot} role="row" aria-rowindex={line}>
      <div className={`${styles.footCell} ${styles.pinned}`} role="gridcell" aria-colindex={1} />
      {columns.map((column, at) => (
        <div
          key={column.key}
          className={[styles.footCell, column.isNumber && styles.number, at === 0 && styles.pinnedName]
            .filter(Boolean)
            .join(' ')}
          role="gridcell"
          aria-colindex={at + 2}
        >
          {at === 0 ? <CardCount total={total} /> : textOf(column)}
        </div>
      ))}
    </div>
  );
}
