import { Button, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { useFormat } from '../../kit/format.ts';
import { Icon } from '../../kit/Icon.tsx';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { Page } from '../../kit/Page.tsx';
import { CardTable } from './CardTable.tsx';
import { defaultColumns, useColumns } from './columns.tsx';
import { Facets } from './Facets.tsx';
import styles from './inventory.module.css';
import type { InventorySearch } from './inventory.search.ts';
import { useRows } from './rows.ts';
import tableStyles from './table.module.css';

/** The table of the cards of one type or of all, with facets. */
export function InventoryPage() {
  const t = useTexts();
  const search = useSearch({ from: '/app/inventory' });
  const navigate = useNavigate({ from: '/inventory' });
  const { types, type: typeOf, label } = useMetamodel();
  const { number } = useFormat();
  const [range, setRange] = useState({ from: 0, to: 40 });
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const columns = useColumns(search.type);
  const rows = useRows(search, range.from, range.to);
  const go = (next: InventorySearch) => void navigate({ search: next, replace: true });
  const onSelect = useCallback((ids: readonly string[], isSelected: boolean) => {
    setSelected((before) => {
      const after = new Set(before);
      for (const id of ids) {
        if (isSelected) after.add(id);
        else after.delete(id);
      }
      return after;
    });
  }, []);
  const shownKeys = search.cols ?? defaultColumns(columns);
  const shown = shownKeys.flatMap((key) => columns.find((column) => column.key === key) ?? []);
  const type = search.type ? typeOf(search.type) : undefined;
  const title = type ? label(type) : t('nav.inventory');
  const isFiltered = Boolean(search.where || search.search || search.filter);
  return (
    <Page
      title={
        <>
          {type && <TypeMark type={type.key} size={22} />}
          <h1>{title}</h1>
        </>
      }
    >
      <div className={styles.controls}>
        <Select
          aria-label={t('field.type')}
          w={200}
          clearable
          searchable
          placeholder={t('inventory.allTypes')}
          value={search.type ?? null}
          data={types.filter((one) => !one.is_hidden).map((one) => ({ value: one.key, label: label(one) }))}
          onChange={(value: string | null) => go({ type: value ?? undefined, search: search.search })}
        />
        <SearchField
          key={search.search ?? ''}
          value={search.search ?? ''}
          onChange={(text) => go({ ...search, search: text || undefined })}
        />
        {isFiltered && (
          <Button
            variant="subtle"
            color="gray"
            onClick={() => go({ type: search.type, sort: search.sort, cols: search.cols })}
          >
            {t('inventory.clear')}
          </Button>
        )}
      </div>
      <div className={styles.body} aria-busy={rows.isLoading}>
        <Facets search={search} onChange={go} />
        <div className={styles.table}>
          {rows.total === 0 && !rows.isLoading ? (
            <Nothing isFiltered={isFiltered} onClear={() => go({ type: search.type })} />
          ) : (
            <CardTable
              columns={shown}
              total={rows.total}
              row={rows.row}
              onRange={(from, to) =>
                setRange((now) => (now.from === from && now.to === to ? now : { from, to }))
              }
              sort={search.sort ?? 'name'}
              onSort={(sort) => go({ ...search, sort: sort === 'name' ? undefined : sort })}
              selected={selected}
              onSelect={onSelect}
              peek={search.peek}
              onPeek={(id) => go({ ...search, peek: id === search.peek ? undefined : id })}
            />
          )}
          <div className={tableStyles.foot} aria-live="polite">
            <strong>{number(rows.total)}</strong> {t('inventory.cards', { count: rows.total })}
            {selected.size > 0 && (
              <span className="secondary">{t('inventory.selected', { count: selected.size })}</span>
            )}
          </div>
        </div>
      </div>
    </Page>
  );
}

function SearchField({ value, onChange }: { value: string; onChange(text: string): void }) {
  const t = useTexts();
  const [text, setText] = useState(value);
  const later = useDebouncedCallback(onChange, 200);
  return (
    <TextInput
      aria-label={t('inventory.search')}
      placeholder={t('inventory.search')}
      leftSection={<Icon name="search" />}
      w={260}
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        later(event.target.value.trim());
      }}
    />
  );
}

function Nothing({ isFiltered, onClear }: { isFiltered: boolean; onClear(): void }) {
  const t = useTexts();
  return (
    <div className={styles.nothing}>
      <h2>{t(isFiltered ? 'inventory.noMatch' : 'inventory.empty')}</h2>
      <p>{t(isFiltered ? 'inventory.noMatchHelp' : 'inventory.emptyHelp')}</p>
      {isFiltered && <Button onClick={onClear}>{t('inventory.clear')}</Button>}
    </div>
  );
}
