import { memo, type ReactNode } from 'react';
import { useTexts } from '../../kit/messages.tsx';
import type { ShownColumn } from './layout.ts';
import styles from './table.module.css';
import type { CardListItem, Related } from './types.ts';

interface GridRowProps {
  line: number;
  start: number;
  card: CardListItem | undefined;
  related: ReadonlyMap<string, Related[]> | undefined;
  columns: readonly ShownColumn[];
  /** The column of the cell with the focus; -1 without. */
  activeColumn: number;
  /** The first and the last column of the selected range; -1 without. */
  rangeFrom: number;
  rangeTo: number;
  isSelected: boolean;
  isPeeked: boolean;
  /** Whether others have changed the card since somebody pointed at it. */
  isChanged: boolean;
  onSeen(card: string): void;
  /** The control of the active cell, while it is edited. */
  editor: ReactNode;
  errorOf(card: string, column: string): string | undefined;
  /** The depth in the hierarchy. */
  depth: number;
  onSelect(cards: readonly CardListItem[], isSelected: boolean): void;
}

/** A line of the table with one card. */
export const GridRow = memo(function GridRow(props: GridRowProps) {
  const t = useTexts();
  const {
    line,
    start,
    card,
    related,
    columns,
    activeColumn,
    rangeFrom,
    rangeTo,
    isSelected,
    isPeeked,
    depth,
  } = props;
  return (
    <div
      className={styles.row}
      style={{ transform: `translateY(${start}px)` }}
      role="row"
      aria-rowindex={line + 2}
      aria-selected={isSelected}
      data-peek={isPeeked}
      {...(props.isChanged && {
        onMouseLeave: () => props.onSeen(card!.id),
        onBlur: () => props.onSeen(card!.id),
      })}
    >
      <div className={`${styles.cell} ${styles.pinned}`} role="gridcell" aria-colindex={1}>
        {props.isChanged && (
          <span
            className={styles.changed}
            role="img"
            aria-label={t('others.changed')}
            title={t('others.changed')}
          />
        )}
        {card && (
          // one of Mantine would take most of the time of a row
          <input
            type="checkbox"
            aria-label={t('table.selectCard', { name: card.name })}
            checked={isSelected}
            tabIndex={-1}
            onChange={(event) => props.onSelect([card], event.target.checked)}
          />
        )}
      </div>
      {columns.map((column, at) => {
        const classes = [styles.cell, column.isNumber && styles.number, at === 0 && styles.pinnedName];
        const isIndented = at === 0 && depth > 0;
        const error = card && props.errorOf(card.id, column.key);
        const isEdited = at === activeColumn && props.editor !== undefined;
        return (
          <div
            key={column.key}
            className={classes.filter(Boolean).join(' ')}
            style={isIndented ? { paddingLeft: 8 + depth * 18 } : undefined}
            role="gridcell"
            aria-colindex={at + 2}
            data-line={line}
            data-column={at}
            data-edited={isEdited}
            data-error={error !== undefined}
            aria-invalid={error !== undefined}
            title={error}
            data-range={rangeFrom >= 0 && at >= rangeFrom && at <= rangeTo}
            tabIndex={at === activeColumn ? 0 : -1}
          >
            {isEdited ? (
              props.editor
            ) : card ? (
              column.cell({ card, related })
            ) : (
              <span className={styles.ghost} />
            )}
            {error && <span className={styles.error}>{error}</span>}
          </div>
        );
      })}
    </div>
  );
});
