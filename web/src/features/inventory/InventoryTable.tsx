import { Checkbox } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useMemo, useState } from 'react';
import { useTexts } from '../../kit/messages.tsx';
import { CardGrid } from './CardGrid.tsx';
import { rowHeights, useDensity } from './density.ts';
import { GridFoot } from './GridFoot.tsx';
import { useGridCursor } from './grid.ts';
import type { InventorySearch } from './inventory.search.ts';
import { colsOf, type ShownColumn } from './layout.ts';
import { Nothing } from './Nothing.tsx';
import { fieldsOf, listQueryOf, PAGE, useRelated, useRows, useTotal } from './rows.ts';
import type { Column } from './types.ts';

/** How long the scrollbar must rest at a far place until its rows are read, in milliseconds. */
const REST_MS = 60;

interface InventoryTableProps {
  search: InventorySearch;
  onChange(search: InventorySearch): void;
  all: readonly Column[];
  columns: readonly ShownColumn[];
  selected: ReadonlySet<string>;
  onSelect(ids: readonly string[], isSelected: boolean): void;
}

/** The table of the cards of an address. */
export function InventoryTable({ search, onChange, all, columns, selected, onSelect }: InventoryTableProps) {
  const t = useTexts();
  const [density] = useDensity();
  const cursor = useGridCursor();
  const [range, setRange] = useState({ from: 0, to: 40 });
  const setRangeLater = useDebouncedCallback(setRange, REST_MS);
  const { type, search: words, filter, sort, tree, archived, mine } = search;
  const query = useMemo(
    () => listQueryOf({ type, search: words, filter, sort, tree, archived, mine }),
    [type, words, filter, sort, tree, archived, mine],
  );
  const fields = fieldsOf(columns);
  const list = useTotal(query, fields, true);
  const total = list.total ?? 0;
  const segments = useMemo(() => [{ query, start: 0, count: total }], [query, total]);
  const rows = useRows(segments, fields, range.from, range.to);
  const related = useRelated(rows.pages, columns);
  const error = list.error ?? rows.error;
  if (error) throw error;
  const change = (shown: readonly ShownColumn[]) => onChange({ ...search, cols: colsOf(all, shown) });
  const shownIds = rows.pages.flat().map(({ id }) => id);
  const areAllSelected = shownIds.length > 0 && shownIds.every((id) => selected.has(id));
  if (list.total === 0) return <Nothing search={search} onChange={onChange} />;
  return (
    <CardGrid
      columns={columns}
      lines={total}
      rowHeight={rowHeights[density]}
      card={rows.row}
      related={related}
      depth={(card) => (tree ? (card.path?.length ?? 0) : 0)}
      onRange={(from, to) => {
        if (from === range.from && to === range.to) return;
        const isNear = Math.abs(from - range.from) < PAGE;
        (isNear ? setRange : setRangeLater)({ from, to });
      }}
      cursor={cursor}
      sort={query.sort_by === 'relevance' ? '' : `${query.sort_dir === 'desc' ? '-' : ''}${query.sort_by}`}
      onSort={(by) => onChange({ ...search, sort: by === 'name' && !words && !tree ? undefined : by })}
      onResize={(key, width) =>
        change(columns.map((column) => (column.key === key ? { ...column, width } : column)))
      }
      onMove={(key, before) => change(moved(columns, key, before))}
      onHide={(key) => change(columns.filter((column) => column.key !== key))}
      group={search.group}
      onGroup={(group) => onChange({ ...search, group })}
      selected={selected}
      onSelect={onSelect}
      selectAll={
        <Checkbox
          aria-label={t('table.selectAll')}
          checked={areAllSelected}
          indeterminate={!areAllSelected && selected.size > 0}
          tabIndex={-1}
          onChange={(event) => onSelect(shownIds, event.target.checked)}
        />
      }
      peek={search.peek}
      onPeek={(id) => onChange({ ...search, peek: id === search.peek ? undefined : id })}
      foot={<GridFoot search={search} columns={columns} total={total} line={total + 2} />}
      isStale={list.isStale}
    />
  );
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
