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
import styles from './table.module.css';
import type { CardListItem, Column } from './types.ts';
import { useVisibleLines } from './visible.ts';

/** How long the focus must rest on a row until the panel shows its card, in milliseconds. */
const PEEK_MS = 120;

interface InventoryTableProps {
  search: InventorySearch;
  onChange(search: InventorySearch): void;
  all: readonly Column[];
  columns: readonly ShownColumn[];
  selected: ReadonlySet<string>;
  onSelect(cards: readonly CardListItem[], isSelected: boolean): void;
  onTotal(total: number): void;
}

/** The table of the cards of an address. */
export function InventoryTable(props: InventoryTableProps) {
  const { search, onChange, all, columns, selected, onSelect, onTotal } = props;
  const t = useTexts();
  const [density] = useDensity();
  const cursor = useGridCursor();
  const { lines: visible, onRange } = useVisibleLines();
  const { type, search: words, filter, sort, tree, archived, mine } = search;
  const query = useMemo(
    () => listQueryOf({ type, search: words, filter, sort, tree, archived, mine }),
    [type, words, filter, sort, tree, archived, mine],
  );
  const fields = fieldsOf(columns, tree);
  const list = useTotal(query, fields, true);
  const total = list.total ?? 0;
  const [collapsed, setCollapsed] = useState<ReadonlySet<string | null>>(new Set());
  const by = tree ? undefined : all.find(({ key, groupBy }) => key === search.group && groupBy);
  const grouped = useGroups(search, by, columns, collapsed);
  const plain = useMemo(() => [{ query, start: 0, count: total }], [query, total]);
  const segments = grouped?.segments ?? plain;
  const lines = grouped?.lines ?? total;
  const rows = useRows(segments, fields, visible);
  const related = useRelated(rows.pages, columns);
  const isPhone = useMediaQuery('(max-width: 599px)', window.innerWidth < 600);
  const others = useOthers(query, fields);
  useEffect(() => onTotal(total), [onTotal, total]);
  // the panel follows the cell with the focus
  const peeked = search.peek && rows.row(cursor.active.line)?.id;
  const showPeeked = useDebouncedCallback((peek: string) => onChange({ ...search, peek }), PEEK_MS);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only moves of the focus change the card
  useEffect(() => {
    if (peeked && cursor.hasMoved) showPeeked(peeked);
  }, [cursor.active]);
  const { permissions } = useMe();
  const mayCreate = isAllowed(permissions, 'inventory.create') && !archived;
  const newType = mayCreate && !by ? type : undefined;
  const editing = useGridEditing(
    { columns, lines, newType, card: rows.row, lineOf: rows.lineOf, related },
    cursor,
  );
  const head = useHead(search, query, all, columns, onChange);
  const error = list.error ?? rows.error;
  if (error) throw error;
  const shown = rows.pages.flat();
  const areAllSelected = shown.length > 0 && shown.every(({ id }) => selected.has(id));
  if (list.total === 0) return <Nothing search={search} onChange={onChange} />;
  if (isPhone)
    return (
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
        selectAll={
          <Checkbox
            aria-label={t('table.selectAll')}
            checked={areAllSelected}
            indeterminate={!areAllSelected && selected.size > 0}
            tabIndex={-1}
            onChange={(event) => onSelect(shown, event.target.checked)}
          />
        }
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
                onToggle={(value) => {
                  const next = new Set(collapsed);
                  if (!next.delete(value)) next.add(value);
                  setCollapsed(next);
                }}
              />
            )
          );
        }}
        foot={<GridFoot search={search} columns={columns} total={total} line={lines + 2} />}
        isStale={list.isStale}
      />
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
