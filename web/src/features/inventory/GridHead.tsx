import { Menu } from '@mantine/core';
import { type KeyboardEvent, memo, type PointerEvent, useState } from 'react';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { limited, type ShownColumn, sortAfter, sortsOf } from './layout.ts';
import styles from './table.module.css';

/** By how much a key changes a width, in pixels. */
const STEP = 16;

/** What a column's menu, its drag edge and its keys do. */
export interface HeadActions {
  sort: string;
  onSort(sort: string): void;
  onResize(key: string, width: number): void;
  onMove(key: string, before: string | null): void;
  onHide(key: string): void;
  onGroup(key: string | undefined): void;
  group: string | undefined;
}

interface GridHeadProps {
  columns: readonly ShownColumn[];
  actions: HeadActions;
  /** Before a column is moved, while it is resized. */
  onPreview(key: string, width: number): void;
}

/** The titles of the columns. */
export const HeadCells = memo(function HeadCells({ columns, actions, onPreview }: GridHeadProps) {
  return columns.map((column, at) => (
    <HeadCell key={column.key} at={at} columns={columns} {...actions} onPreview={onPreview} />
  ));
});

interface HeadCellProps extends HeadActions {
  at: number;
  columns: readonly ShownColumn[];
  onPreview(key: string, width: number): void;
}

function HeadCell({ at, columns, ...actions }: HeadCellProps) {
  const { sort, onSort, onMove, onResize } = actions;
  const column = columns[at]!;
  const { key, title, width, isNumber } = column;
  const t = useTexts();
  const isPinned = key === 'name';
  const sorts = sortsOf(sort);
  const place = sorts.findIndex((one) => one.replace(/^-/, '') === column.sort);
  const isDescending = sorts[place]?.startsWith('-');
  const [isOver, setOver] = useState(false);
  const onKeyDown = (event: KeyboardEvent) => {
    const side = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (side === undefined || !(event.altKey || event.shiftKey)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.shiftKey) onResize(key, limited(width + side * STEP));
    else moveBy(columns, at, side, onMove);
  };
  const classes = [styles.headCell, isNumber && styles.number, isPinned && styles.pinnedName].filter(Boolean);
  const order = isDescending ? 'descending' : 'ascending';
  return (
    <div
      role="columnheader"
      aria-colindex={at + 2}
      aria-sort={place === 0 ? order : undefined}
      className={classes.join(' ')}
      data-over={isOver}
      onKeyDown={onKeyDown}
      onDragOver={(event) => {
        if (isPinned || !event.dataTransfer.types.includes(COLUMN)) return;
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        setOver(false);
        const moved = event.dataTransfer.getData(COLUMN);
        if (moved && moved !== key) onMove(moved, key);
      }}
    >
      <button
        type="button"
        className={styles.headButton}
        draggable={!isPinned}
        onDragStart={(event) => event.dataTransfer.setData(COLUMN, key)}
        onClick={({ shiftKey }) => column.sort && onSort(sortAfter(sort, column.sort, shiftKey))}
        aria-disabled={column.sort === undefined}
        title={column.sort ? t('column.sortHelp', { column: title }) : title}
      >
        <span className={styles.clipped}>{title}</span>
        {place >= 0 && <Icon name={isDescending ? 'arrow_downward' : 'arrow_upward'} size={14} />}
        {place >= 0 && sorts.length > 1 && <span className={styles.sortPlace}>{place + 1}</span>}
      </button>
      <ColumnMenu at={at} columns={columns} {...actions} />
      <DragEdge column={column} {...actions} />
    </div>
  );
}

/** The kind of data of a dragged column. */
const COLUMN = 'application/x-estate-column';

/** Moves a column by one place; the name stays the first. */
function moveBy(
  columns: readonly ShownColumn[],
  at: number,
  side: number,
  onMove: HeadActions['onMove'],
): void {
  const to = at + side;
  if (at === 0 || to < 1 || to >= columns.length) return;
  onMove(columns[at]!.key, columns[side < 0 ? to : to + 1]?.key ?? null);
}

function ColumnMenu({
  at,
  columns,
  sort: sorted,
  onSort,
  onMove,
  onResize,
  onHide,
  onGroup,
  group,
}: HeadCellProps) {
  const t = useTexts();
  const { key, title, sort, groupBy, width, usualWidth } = columns[at]!;
  const item = (icon: string, text: string, onClick: () => void) => (
    <Menu.Item leftSection={<Icon name={icon} />} onClick={onClick}>
      {text}
    </Menu.Item>
  );
  return (
    <Menu width={220} position="bottom-end">
      <Menu.Target>
        <button type="button" className={styles.menuButton} aria-label={t('column.menu', { column: title })}>
          <Icon name="keyboard_arrow_down" size={14} />
        </button>
      </Menu.Target>
      <Menu.Dropdown>
        {sort && item('arrow_upward', t('column.ascending'), () => onSort(sort))}
        {sort && item('arrow_downward', t('column.descending'), () => onSort(`-${sort}`))}
        {sort &&
          sorted !== '' &&
          !sortsOf(sorted).some((one) => one.replace(/^-/, '') === sort) &&
          item('sort', t('column.sortAlso'), () => onSort(sortAfter(sorted, sort, true)))}
        {groupBy &&
          (group === key
            ? item('close', t('column.ungroup'), () => onGroup(undefined))
            : item('workspaces', t('column.group'), () => onGroup(key)))}
        {(sort || groupBy) && <Menu.Divider />}
        {at > 1 && item('arrow_back', t('column.left'), () => moveBy(columns, at, -1, onMove))}
        {at > 0 &&
          at < columns.length - 1 &&
          item('arrow_forward', t('column.right'), () => moveBy(columns, at, 1, onMove))}
        {item('add', t('column.wider'), () => onResize(key, limited(width + 4 * STEP)))}
        {width !== usualWidth && item('refresh', t('column.usualWidth'), () => onResize(key, usualWidth))}
        {at > 0 && item('visibility', t('column.hide'), () => onHide(key))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** The edge that drags the width; by keyboard, Shift with the arrows on the title does it. */
function DragEdge({
  column,
  onPreview,
  onResize,
}: { column: ShownColumn } & Pick<HeadCellProps, 'onPreview' | 'onResize'>) {
  const { key, width } = column;
  const start = (event: PointerEvent<HTMLSpanElement>) => {
    event.preventDefault();
    const edge = event.currentTarget;
    const from = event.clientX;
    const at = (x: number) => limited(width + x - from);
    edge.setPointerCapture(event.pointerId);
    edge.onpointermove = (move) => onPreview(key, at(move.clientX));
    edge.onpointerup = (end) => {
      edge.onpointermove = null;
      edge.onpointerup = null;
      if (end.clientX !== from) onResize(key, at(end.clientX));
    };
  };
  return <span className={styles.edge} aria-hidden="true" onPointerDown={start} />;
}
