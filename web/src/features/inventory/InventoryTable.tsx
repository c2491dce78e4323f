import { Checkbox } from '@mantine/core';
import { useDebouncedCallback, useMediaQuery } from '@mantine/hooks';
import { useEffect, useMemo, useState } from 'react';
import { useTexts } from '../../kit/messages.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { CardGrid } from './CardGrid.tsx';
import { CardLines } from './CardLines.tsx';
import { rowHeights, useDensity } from './density.ts';
import { GridFoot, LinesFoot } from './GridFoot.tsx';
import type { HeadActions } from './GridHead.tsx';
import { GroupLine, GroupValue } from './GroupLine.tsx';
import { useGridCursor } from './grid.ts';
import { useGridEditing } from './gridEditing.tsx';
import { useGroups } from './groups.ts';
import type { InventorySearch } from './inventory.search.ts';
import { colsOf, type ShownColumn } from './layout.ts';
import { Nothing } from './Nothing.tsx';
import { useOthers } from './others.ts';
import { fieldsOf, listQueryOf, useRelated, useRows, useTotal } from './rows.ts';
import { SelectionBar } from './SelectionBar.tsx';
import { MOST_SELECTED, type useSelection } from './selection.ts';
import { TableFailure } from './TableFailure.tsx';
import styles from './table.module.css';
import type { CardListItem, Column } from './types.ts';
import { useVisibleLines } from './visible.ts';

/** How long the focus must rest on a row until the panel shows its card, in milliseconds. */
const PEEK_MS = 120;

interface InventoryTableProps {
  search: InventorySearch;
  onChange(search: InventorySearch): void;
  /** The service refuses the filter. */
  onRefused(): void;
  all: readonly Column[];
  columns: readonly ShownColumn[];
  selection: ReturnType<typeof useSelection>;
}

/** The table of the cards of an address. */
export function InventoryTable(props: InventoryTableProps) {
  const { search, onChange, onRefused, all, columns, selection } = props;
  const { ids: selected, select: onSelect } = selection;
  const t = useTexts();
  const [density] = useDensity();
  const cursor = useGridCursor();
  const { lines: visible, onRange } = useVisibleLines();
  const { type, tree, archived } = search;
  const query = useListQuery(search);
  const fields = fieldsOf(columns, tree);
  const list = useTotal(query, fields, true);
  const total = list.total ?? 0;
  const { collapsed, toggle } = useCollapsed();
  const by = tree ? undefined : all.find(({ key, groupBy }) => key === search.group && groupBy);
  const grouped = useGroups(search, by, columns, collapsed);
  const plain = useMemo(() => [{ query, start: 0, count: total }], [query, total]);
  const segments = grouped?.segments ?? plain;
  const lines = grouped?.lines ?? total;
  const rows = useRows(segments, fields, visible);
  const related = useRelated(rows.pages, columns);
  const isPhone = useMediaQuery('(max-width: 599px)', window.innerWidth < 600);
  const others = useOthers(query, fields);
  usePeeked(search.peek && rows.row(cursor.active.line)?.id, cursor, (peek) => onChange({ ...search, peek }));
  const { permissions } = useMe();
  const mayCreate = isAllowed(permissions, 'inventory.create') && !archived;
  const newType = mayCreate && !by ? type : undefined;
  const editing = useGridEditing(
    { columns, lines, newType, card: rows.row, lineOf: rows.lineOf, related },
    cursor,
  );
  const head = useHead(search, query, all, columns, onChange);
  const error = list.error ?? rows.error;
  if (error)
    return (
      <TableFailure {...{ error, onRefused }} onClear={() => onChange({ ...search, filter: undefined })} />
    );
  const bar = (
    <SelectionBar
      cards={selection.cards}
      isArchived={archived === true}
      others={Math.min(total, MOST_SELECTED) - selection.cards.length}
      onSelectAll={() => selection.selectAll(search)}
      onClear={selection.clear}
    />
  );
  if (list.total === 0)
    return (
      <>
        <Nothing search={search} onChange={onChange} />
        {bar}
      </>
    );
  if (isPhone)
    return (
      <>
        <CardLines
          columns={columns}
          lines={lines}
          card={rows.row}
          related={related}
          onRange={onRange}
          onPeek={(id) => onChange({ ...search, peek: id })}
          head={(line) => {
            const group = grouped?.groups.find((one) => one.line === line);
            return group && { text: <GroupValue by={by!} value={group.value} /> };
          }}
          foot={<LinesFoot search={search} columns={columns} total={total} />}
          isStale={list.isStale}
        />
        {bar}
      </>
    );
  return (
    <>
      {others.added.size > 0 && (
        <button type="button" className={styles.news} onClick={others.show}>
          {t('others.show', { count: others.added.size })}
        </button>
      )}
      <CardGrid
        changed={others.changed}
        onSeen={others.onSeen}
        columns={columns}
        lines={lines}
        rowHeight={rowHeights[density]}
        card={rows.row}
        related={related}
        depth={(card) => (tree ? (card.path?.length ?? 0) : 0)}
        onRange={onRange}
        cursor={cursor}
        editing={editing}
        head={head}
        selected={selected}
        onSelect={onSelect}
        selectAll={<SelectAll shown={rows.pages.flat()} selected={selected} onSelect={onSelect} />}
        peek={search.peek}
        onPeek={(id) => onChange({ ...search, peek: id === search.peek ? undefined : id })}
        otherLine={(line, start) => {
          const group = grouped?.groups.find((one) => one.line === line);
          return (
            group && (
              <GroupLine
                key={`group ${group.value}`}
                group={group}
                by={by!}
                start={start}
                columns={columns}
                activeColumn={cursor.active.line === line ? cursor.active.column : -1}
                onToggle={toggle}
              />
            )
          );
        }}
        foot={<GridFoot search={search} columns={columns} total={total} line={lines + 2} />}
        isStale={list.isStale}
      />
      {bar}
    </>
  );
}

/** What the titles of the columns do. */
function useHead(
  search: InventorySearch,
  query: ReturnType<typeof listQueryOf>,
  all: readonly Column[],
  columns: readonly ShownColumn[],
  onChange: InventoryTableProps['onChange'],
): HeadActions {
  return useMemo((): HeadActions => {
    const change = (shown: readonly ShownColumn[]) => onChange({ ...search, cols: colsOf(all, shown) });
    const isPlain = !search.search && !search.tree;
    return {
      sort: query.sort_by === 'relevance' ? '' : `${query.sort_dir === 'desc' ? '-' : ''}${query.sort_by}`,
      onSort: (by) => onChange({ ...search, sort: (by === 'name' && isPlain) || !by ? undefined : by }),
      onResize: (key, width) =>
        change(columns.map((column) => (column.key === key ? { ...column, width } : column))),
      onMove: (key, before) => change(moved(columns, key, before)),
      onHide: (key) => change(columns.filter((column) => column.key !== key)),
      group: search.group,
      onGroup: (group) => onChange({ ...search, group }),
    };
  }, [search, query, all, columns, onChange]);
}

/** The columns with one moved before another, or to the end. */
function moved(columns: readonly ShownColumn[], key: string, before: string | null): ShownColumn[] {
  const column = columns.find((one) => one.key === key);
  const others = columns.filter((one) => one.key !== key);
  const at =
    before === null
      ? others.length
      : Math.max(
          1,
          others.findIndex((one) => one.key === before),
        );
  return column ? others.toSpliced(at, 0, column) : [...columns];
}

/** The parameters of the list; the same object as long as these are the same. */
function useListQuery({ type, search, filter, sort, tree, archived, mine }: InventorySearch) {
  return useMemo(
    () => listQueryOf({ type, search, filter, sort, tree, archived, mine }),
    [type, search, filter, sort, tree, archived, mine],
  );
}

/** Lets the panel follow the cell with the focus. */
function usePeeked(
  peeked: string | undefined,
  { active, hasMoved }: ReturnType<typeof useGridCursor>,
  onPeek: (id: string) => void,
): void {
  const show = useDebouncedCallback(onPeek, PEEK_MS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only moves of the focus change the card
  useEffect(() => {
    if (peeked && hasMoved) show(peeked);
  }, [active]);
}

/** The groups whose rows are not shown. */
function useCollapsed() {
  const [collapsed, setCollapsed] = useState<ReadonlySet<string | null>>(new Set());
  const toggle = (value: string | null) =>
    setCollapsed((before) => {
      const next = new Set(before);
      if (!next.delete(value)) next.add(value);
      return next;
    });
  return { collapsed, toggle };
}

interface SelectAllProps {
  shown: readonly CardListItem[];
  selected: ReadonlySet<string>;
  onSelect(cards: readonly CardListItem[], isSelected: boolean): void;
}

function SelectAll({ shown, selected, onSelect }: SelectAllProps) {
  const t = useTexts();
  const isAll = shown.length > 0 && shown.every(({ id }) => selected.has(id));
  return (
    <Checkbox
      aria-label={t('table.selectAll')}
      checked={isAll}
      indeterminate={!isAll && selected.size > 0}
      tabIndex={-1}
      onChange={(event) => onSelect(shown, event.target.checked)}
    />
  );
}
