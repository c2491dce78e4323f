import { Checkbox } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, memo, useRef } from 'react';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import type { Column } from './columns.tsx';
import type { CardListItem } from './rows.ts';
import styles from './table.module.css';

const ROW = 32;
const SELECT_WIDTH = 36;

interface CardTableProps {
  columns: readonly Column[];
  total: number;
  row(index: number): CardListItem | undefined;
  /** Called with the first and last visible index. */
  onRange(from: number, to: number): void;
  sort: string;
  onSort(sort: string): void;
  selected: ReadonlySet<string>;
  onSelect(ids: readonly string[], isSelected: boolean): void;
  peek: string | undefined;
  onPeek(id: string): void;
}

/** A table of any number of cards: only the visible rows exist. */
export function CardTable({
  columns,
  total,
  row,
  onRange,
  sort,
  onSort,
  selected,
  onSelect,
  peek,
  onPeek,
}: CardTableProps) {
  const t = useTexts();
  const scroll = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: total,
    getScrollElement: () => scroll.current,
    estimateSize: () => ROW,
    overscan: 12,
    onChange: ({ range }) => range && onRange(range.startIndex, range.endIndex),
  });
  const move = (index: number) => {
    rows.scrollToIndex(index);
    requestAnimationFrame(() =>
      scroll.current?.querySelector<HTMLElement>(`[data-index="${index}"]`)?.focus({ preventScroll: true }),
    );
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const place = (event.target as HTMLElement).closest<HTMLElement>('[data-index]')?.dataset.index;
    if (place === undefined) return;
    const index = Number(place);
    const card = row(index);
    const page = Math.floor((scroll.current?.clientHeight ?? 0) / ROW) - 2;
    const steps: Record<string, number> = {
      ArrowDown: 1,
      j: 1,
      ArrowUp: -1,
      k: -1,
      PageDown: page,
      PageUp: -page,
      Home: -index,
      End: total - 1 - index,
    };
    const step = steps[event.key];
    if (step !== undefined) move(Math.min(total - 1, Math.max(0, index + step)));
    else if (event.key === ' ' && card) onPeek(card.id);
    else if (event.key === 'x' && card) onSelect([card.id], !selected.has(card.id));
    else if (event.key === 'Enter' && card)
      (event.currentTarget.querySelector(`[data-index="${index}"] a`) as HTMLElement | null)?.click();
    else return;
    event.preventDefault();
  };
  const visible = rows.getVirtualItems();
  return (
    <div
      className={styles.scroll}
      ref={scroll}
      role="grid"
      aria-rowcount={total + 1}
      aria-colcount={columns.length + 1}
      aria-label={t('nav.inventory')}
      onKeyDown={onKeyDown}
    >
      <div className={styles.head} role="row" aria-rowindex={1}>
        <div
          className={`${styles.headCell} ${styles.pinned}`}
          style={{ width: SELECT_WIDTH, background: 'inherit' }}
          role="columnheader"
        >
          <span className="visually-hidden">{t('table.select')}</span>
        </div>
        {columns.map((column) => (
          <HeadCell key={column.key} column={column} sort={sort} onSort={onSort} />
        ))}
      </div>
      <div className={styles.rows} style={{ height: rows.getTotalSize() }} role="rowgroup">
        {visible.map(({ index, start }) => {
          const card = row(index);
          return (
            <Row
              key={index}
              index={index}
              start={start}
              card={card}
              columns={columns}
              isSelected={card !== undefined && selected.has(card.id)}
              isPeeked={card !== undefined && card.id === peek}
              isFirst={index === 0}
              onSelect={onSelect}
            />
          );
        })}
      </div>
    </div>
  );
}

function HeadCell({ column, sort, onSort }: { column: Column; sort: string; onSort(sort: string): void }) {
  const isSorted = column.sort !== undefined && sort.replace(/^-/, '') === column.sort;
  const isDescending = sort.startsWith('-');
  const classes = [
    styles.headCell,
    column.isNumber && styles.number,
    column.key === 'name' && styles.pinnedName,
  ].filter(Boolean);
  const style = { width: column.width, ...(column.key === 'name' && { background: 'var(--canvas)' }) };
  const order = isDescending ? 'descending' : 'ascending';
  if (column.sort === undefined)
    return (
      <div className={classes.join(' ')} style={style} role="columnheader">
        {column.title}
      </div>
    );
  return (
    <div
      role="columnheader"
      aria-sort={isSorted ? order : 'none'}
      className={column.key === 'name' ? styles.pinnedName : undefined}
    >
      <button
        type="button"
        className={classes.join(' ')}
        style={style}
        onClick={() => onSort(isSorted && !isDescending ? `-${column.sort}` : column.sort!)}
      >
        {column.title}
        {isSorted && <Icon name={isDescending ? 'arrow_downward' : 'arrow_upward'} size={14} />}
      </button>
    </div>
  );
}

interface RowProps {
  index: number;
  start: number;
  card: CardListItem | undefined;
  columns: readonly Column[];
  isSelected: boolean;
  isPeeked: boolean;
  isFirst: boolean;
  onSelect: CardTableProps['onSelect'];
}

const Row = memo(function Row({
  index,
  start,
  card,
  columns,
  isSelected,
  isPeeked,
  isFirst,
  onSelect,
}: RowProps) {
  const t = useTexts();
  return (
    <div
      className={styles.row}
      style={{ transform: `translateY(${start}px)` }}
      role="row"
      aria-rowindex={index + 2}
      aria-selected={isSelected}
      data-index={index}
      data-peek={isPeeked}
      tabIndex={isFirst ? 0 : -1}
    >
      <div className={`${styles.cell} ${styles.pinned}`} style={{ width: SELECT_WIDTH }} role="gridcell">
        {card && (
          <Checkbox
            aria-label={t('table.selectCard', { name: card.name })}
            checked={isSelected}
            tabIndex={-1}
            onChange={(event) => onSelect([card.id], event.target.checked)}
          />
        )}
      </div>
      {columns.map((column) => (
        <div
          key={column.key}
          className={[
            styles.cell,
            column.isNumber && styles.number,
            column.key === 'name' && styles.pinnedName,
          ]
            .filter(Boolean)
            .join(' ')}
          style={{ width: column.width }}
          role="gridcell"
        >
          {card ? column.cell(card) : <span className={styles.ghost} />}
        </div>
      ))}
    </div>
  );
});
