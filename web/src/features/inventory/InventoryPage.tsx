import { Button, Menu, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback } from '@mantine/hooks';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useCallback, useMemo, useState } from 'react';
import { Icon } from '../../kit/Icon.tsx';
import { TypeMark } from '../../kit/marks.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { Page } from '../../kit/Page.tsx';
import { ColumnChooser } from './ColumnChooser.tsx';
import { useColumns } from './columns.tsx';
import { rowHeights, useDensity } from './density.ts';
import { Facets } from './Facets.tsx';
import { InventoryTable } from './InventoryTable.tsx';
import styles from './inventory.module.css';
import type { InventorySearch } from './inventory.search.ts';
import { colsOf, shownColumns } from './layout.ts';

/** The table of the cards of one type or of all, with facets. */
export function InventoryPage() {
  const t = useTexts();
  const search = useSearch({ from: '/app/inventory' });
  const navigate = useNavigate({ from: '/inventory' });
  const { types, type: typeOf, label } = useMetamodel();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const all = useColumns(search.type);
  const columns = useMemo(() => shownColumns(all, search.cols), [all, search.cols]);
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
  const type = search.type ? typeOf(search.type) : undefined;
  const isFiltered = Boolean(search.search || search.filter || search.mine);
  return (
    <Page
      title={
        <>
          {type && <TypeMark type={type.key} size={22} />}
          <h1>{type ? label(type) : t('nav.inventory')}</h1>
        </>
      }
    >
      <div className={styles.controls}>
        <Select
          aria-label={t('field.type')}
          w={190}
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
            onClick={() => go({ ...search, filter: undefined, search: undefined, mine: undefined })}
          >
            {t('inventory.clear')}
          </Button>
        )}
        <div className={styles.options}>
          <ColumnChooser
            columns={all}
            shown={columns}
            hasType={type !== undefined}
            onChange={(shown) => go({ ...search, cols: shown && colsOf(all, shown) })}
          />
          <DensityMenu />
        </div>
      </div>
      <div className={styles.body}>
        <Facets search={search} onChange={go} />
        <div className={styles.table}>
          <InventoryTable
            search={search}
            onChange={go}
            all={all}
            columns={columns}
            selected={selected}
            onSelect={onSelect}
          />
        </div>
      </div>
    </Page>
  );
}

function DensityMenu() {
  const t = useTexts();
  const [density, setDensity] = useDensity();
  return (
    <Menu position="bottom-end" width={180}>
      <Menu.Target>
        <Button variant="subtle" color="gray" leftSection={<Icon name="tune" />}>
          {t('density.title')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {(Object.keys(rowHeights) as (keyof typeof rowHeights)[]).map((one) => (
          <Menu.Item
            key={one}
            role="menuitemradio"
            aria-checked={one === density}
            rightSection={one === density && <Icon name="check" />}
            onClick={() => setDensity(one)}
          >
            {t(`density.${one}` as MessageKey)}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}

/** How long typing must rest until it is searched, in milliseconds. */
const REST_MS = 200;

function SearchField({ value, onChange }: { value: string; onChange(text: string): void }) {
  const t = useTexts();
  const [text, setText] = useState(value);
  const later = useDebouncedCallback(onChange, REST_MS);
  return (
    <TextInput
      aria-label={t('inventory.search')}
      placeholder={t('inventory.search')}
      leftSection={<Icon name="search" />}
      className={styles.search}
      value={text}
      onChange={(event) => {
        setText(event.target.value);
        later(event.target.value.trim());
      }}
    />
  );
}
