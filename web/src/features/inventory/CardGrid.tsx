import { defaultRangeExtractor, useVirtualizer } from '@tanstack/react-virtual';
import {
  type KeyboardEvent,
  type MouseEvent,
  type ReactNode,
  useCallback,
  useEffect,
  useRef,
  useState,
} from 'react';
import { useKeys } from '../../kit/keys.ts';
import { useTexts } from '../../kit/messages.tsx';
import { type HeadActions, HeadCells } from './GridHead.tsx';
import { GridRow } from './GridRow.tsx';
import { type GridCursor, type Place, placeAfter } from './grid.ts';
import type { GridEditing } from './gridEditing.tsx';
import type { ShownColumn } from './layout.ts';
import styles from './table.module.css';
import type { CardListItem, Related } from './types.ts';

const SELECT_WIDTH = 36;

interface CardGridProps {
  columns: readonly ShownColumn[];
  lines: number;
  rowHeight: number;
  card(line: number): CardListItem | undefined;
  related(card: string): ReadonlyMap<string, Related[]> | undefined;
  depth(card: CardListItem): number;
  /** Called with the first and the last visible line. */
  onRange(from: number, to: number): void;
  cursor: GridCursor;
  editing: GridEditing;
  /** Cards that others have changed. */
  changed: ReadonlySet<string>;
  onSeen(card: string): void;
  selected: ReadonlySet<string>;
  onSelect(cards: readonly CardListItem[], isSelected: boolean): void;
  /** The checkbox of all rows. */
  selectAll: ReactNode;
  head: HeadActions;
  peek: string | undefined;
  onPeek(id: string): void;
  /** A line that is no card. */
  otherLine?(line: number, start: number): ReactNode;
  /** The row at the foot. */
  foot: ReactNode;
  isStale: boolean;
}

/** The tracks of the rows' grid, and the width of all together. */
function sizesOf(columns: readonly { width: number }[]): Record<string, string> {
  const widths = [SELECT_WIDTH, ...columns.map(({ width }) => width)];
  return {
    '--tracks': widths.map((width) => `${width}px`).join(' '),
    '--width': `${widths.reduce((sum, width) => sum + width)}px`,
  };
}

/** A table of any number of cards: only the visible lines exist. */
export function CardGrid(props: CardGridProps) {
  const { columns, lines, rowHeight, card: cardOf, cursor, editing, selected, onSelect, onPeek } = props;
  const t = useTexts();
  const [scroll, setScroll] = useState<HTMLDivElement | null>(null);
  const { active } = cursor;
  // from anywhere on the page
  const enter = () => {
    cursor.go(active);
    focusCell(scroll, active.line, active.column);
  };
  useKeys({ j: enter, k: enter });
  const onKeyDown = (event: KeyboardEvent<HTMLDivElement>) => {
    if (!(event.target as HTMLElement).dataset.line) return;
    const page = Math.max(1, Math.floor((scroll?.clientHeight ?? 0) / rowHeight) - 3);
    const card = cardOf(active.line);
    if (editing.onKeyDown(event)) return event.preventDefault();
    const place = placeAfter(event, active, { lines, columns: columns.length, page });
    if (place) cursor.go(place, event.shiftKey && event.key !== 'j' && event.key !== 'k');
    else if (event.key === ' ' && card) onPeek(card.id);
    else if (event.key === 'x' && card) onSelect([card], !selected.has(card.id));
    else if (event.key === 'Enter' && active.column === 0)
      event.currentTarget.querySelector<HTMLElement>(`[data-line="${active.line}"] :is(a, button)`)?.click();
    else return;
    event.preventDefault();
  };
  const onMouseDown = (event: MouseEvent) => {
    const cell = (event.target as HTMLElement).closest<HTMLElement>('[data-line]');
    if (!cell || (event.target as HTMLElement).closest('a, input, button, [data-editor]')) return;
    const place = { line: Number(cell.dataset.line), column: Number(cell.dataset.column) };
    if (event.shiftKey) event.preventDefault();
    cursor.go(place, event.shiftKey);
    focusCell(scroll, place.line, place.column);
  };
  const preview = useCallback(
    (key: string, width: number) => {
      const shown = columns.map((column) => (column.key === key ? { width } : column));
      for (const [name, value] of Object.entries(sizesOf(shown))) scroll?.style.setProperty(name, value);
    },
    [columns, scroll],
  );
  return (
    <div
      className={styles.scroll}
      ref={setScroll}
      style={{ ...sizesOf(columns), '--row': `${rowHeight}px` } as React.CSSProperties}
      role="grid"
      aria-rowcount={lines + 2}
      aria-colcount={columns.length + 1}
      aria-multiselectable="true"
      aria-label={t('nav.inventory')}
      data-stale={props.isStale}
      onKeyDown={onKeyDown}
      onMouseDown={onMouseDown}
      onDoubleClick={(event) => {
        const cell = (event.target as HTMLElement).closest<HTMLElement>('[data-line]');
        if (cell) editing.begin({ line: Number(cell.dataset.line), column: Number(cell.dataset.column) });
      }}
      onCopy={editing.onCopy}
      onPaste={editing.onPaste}
    >
      <div className={styles.head} role="row" aria-rowindex={1}>
        <div className={`${styles.headCell} ${styles.pinned}`} role="columnheader" aria-colindex={1}>
          {props.selectAll}
        </div>
        <HeadCells columns={columns} actions={props.head} onPreview={preview} />
      </div>
      <GridLines {...props} scroll={scroll} />
      {props.foot}
      {editing.dialogs}
    </div>
  );
}

/** The visible lines; scrolling renders nothing else. */
function GridLines(props: CardGridProps & { scroll: HTMLDivElement | null }) {
  const { columns, lines, rowHeight, card: cardOf, cursor, editing, selected, peek, scroll } = props;
  const { active, range } = cursor;
  const rows = useVirtualizer({
    count: lines,
    getScrollElement: () => scroll,
    estimateSize: () => rowHeight,
    overscan: 4,
    // the line with the focus stays, so that keys are not lost
    rangeExtractor: (visible) => {
      const shown = defaultRangeExtractor(visible);
      return active.line < lines && !shown.includes(active.line) ? [...shown, active.line] : shown;
    },
    onChange: ({ range: visible }) => visible && props.onRange(visible.startIndex, visible.endIndex),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the heights of all rows change with the density
  useEffect(() => rows.measure(), [rowHeight]);
  useCellFocus(scroll, (line) => rows.scrollToIndex(line), active, editing.isEditing);
  const isSeveral = range.lines[0] !== range.lines[1] || range.columns[0] !== range.columns[1];
  return (
    <div className={styles.rows} style={{ height: rows.getTotalSize() }} role="rowgroup">
      {rows.getVirtualItems().map(({ index, start }) => {
        const other = props.otherLine?.(index, start);
        if (other) return other;
        const card = cardOf(index);
        const isInRange = isSeveral && index >= range.lines[0] && index <= range.lines[1];
        return (
          <GridRow
            key={index}
            line={index}
            start={start}
            card={card}
            related={card && props.related(card.id)}
            columns={columns}
            activeColumn={index === active.line ? Math.min(active.column, columns.length - 1) : -1}
            rangeFrom={isInRange ? range.columns[0] : -1}
            rangeTo={isInRange ? range.columns[1] : -1}
            isSelected={card !== undefined && selected.has(card.id)}
            isChanged={card !== undefined && props.changed.has(card.id)}
            onSeen={props.onSeen}
            isPeeked={card !== undefined && card.id === peek}
            editor={index === active.line ? editing.editorAt(index, active.column) : undefined}
            errorOf={editing.errorOf}
            depth={card ? props.depth(card) : 0}
            onSelect={props.onSelect}
          />
        );
      })}
    </div>
  );
}

/** Keeps the focus on the active cell, as far as it is in the table. */
function useCellFocus(
  grid: HTMLDivElement | null,
  scrollTo: (line: number) => void,
  active: Place,
  isEditing: boolean,
): void {
  // biome-ignore lint/correctness/useExhaustiveDependencies: only moves of the active cell scroll
  useEffect(() => {
    const isInEditor = () => document.activeElement?.closest('[data-editor]');
    if (!grid?.contains(document.activeElement) || isInEditor()) return;
    scrollTo(active.line);
    // a key may have opened the control of the cell before the frame; without the focus it would save and close
    const frame = requestAnimationFrame(() => !isInEditor() && focusCell(grid, active.line, active.column));
    return () => cancelAnimationFrame(frame);
  }, [active]);
  // after an edit the focus returns to the cell, unless it already is elsewhere on the page
  const wasEditing = useRef(false);
  useEffect(() => {
    const focused = document.activeElement;
    if (wasEditing.current && !isEditing && (focused === document.body || grid?.contains(focused)))
      focusCell(grid, active.line, active.column);
    wasEditing.current = isEditing;
  }, [grid, isEditing, active]);
}

function focusCell(grid: HTMLElement | null, line: number, column: number): void {
  grid
    ?.querySelector<HTMLElement>(`[data-line="${line}"][data-column="${column}"]`)
    ?.focus({ preventScroll: false });
}
