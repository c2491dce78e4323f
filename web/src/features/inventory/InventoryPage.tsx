import { Button, Drawer, Menu, SegmentedControl, Select, TextInput } from '@mantine/core';
import { useDebouncedCallback, useDisclosure, useMediaQuery } from '@mantine/hooks';
import { useQuery } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { type RefObject, useEffect, useMemo, useRef, useState } from 'react';
import { call, readArchiveRetention } from '#client';
import { Icon } from '../../kit/Icon.tsx';
import { useKeys } from '../../kit/keys.ts';
import { TypeMark } from '../../kit/marks.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { Page } from '../../kit/Page.tsx';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { ColumnChooser } from './ColumnChooser.tsx';
import { CreateDialog } from './CreateDialog.tsx';
import { useColumns } from './columns.tsx';
import { rowHeights, useDensity } from './density.ts';
import { ExportMenu } from './ExportMenu.tsx';
import { Facets } from './Facets.tsx';
import { FilterBar } from './FilterBar.tsx';
import { InventoryTable } from './InventoryTable.tsx';
import styles from './inventory.module.css';
import type { InventorySearch } from './inventory.search.ts';
import { colsOf, type ShownColumn, shownColumns } from './layout.ts';
import { useSelection } from './selection.ts';
import type { Column } from './types.ts';
import { ViewMenu } from './ViewMenu.tsx';
import { isBare, isEdited, searchOfView, useView } from './views.ts';

/** Whether the person has a permission. */
function useMay() {
  const { permissions } = useMe();
  return (permission: string) => isAllowed(permissions, permission);
}

/** The table of the cards of one type or of all, with facets. */
export function InventoryPage() {
  const t = useTexts();
  const search = useSearch({ from: '/app/inventory' });
  const navigate = useNavigate({ from: '/inventory' });
  const { types, type: typeOf, label, plural } = useMetamodel();
  const selection = useSelection();
  const [refused, setRefused] = useState<string>();
  const all = useColumns(search.type);
  const columns = useMemo(() => shownColumns(all, search.cols), [all, search.cols]);
  const go = (next: InventorySearch) => void navigate({ search: next, replace: true });
  const type = search.type ? typeOf(search.type) : undefined;
  const may = useMay();
  const isNarrow = useMediaQuery('(max-width: 899px)', window.innerWidth < 900);
  const title = search.type ? plural(search.type) : t('nav.inventory');
  const view = useView(search.view);
  // a link may name a view alone
  useEffect(() => {
    if (view && isBare(search) && isEdited(search, view)) go({ ...searchOfView(view), peek: search.peek });
  });
  const find = useRef<HTMLInputElement>(null);
  useKeys({
    '/': () => find.current?.focus(),
    ...(may('inventory.create') && { n: () => go({ ...search, create: true }) }),
  });
  const isFiltered = Boolean(search.search || search.filter || search.mine);
  return (
    <Page
      title={
        <>
          {type && <TypeMark type={type.key} size={22} />}
          <h1>{view?.name ?? title}</h1>
          <ViewMenu title={title} search={search} columns={columns} onChange={go} />
        </>
      }
      actions={
        <Actions search={search} columns={columns} hasTree={type?.has_hierarchy ?? true} onChange={go} />
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
          field={find}
          value={search.search ?? ''}
          onChange={(text) => go({ ...search, search: text || undefined })}
        />
        {isNarrow && <FacetsDrawer search={search} onChange={go} />}
        <FilterBar
          search={search}
          isRefused={search.filter !== undefined && search.filter === refused}
          onChange={go}
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
          <GroupSelect columns={all} search={search} onChange={go} />
          <ColumnChooser
            columns={all}
            shown={columns}
            hasType={type !== undefined}
            onChange={(shown) => go({ ...search, cols: shown && colsOf(all, shown) })}
          />
          <DensityMenu />
        </div>
      </div>
      {search.archived && <ArchivedNotice />}
      <div className={styles.body}>
        {!isNarrow && <Facets search={search} onChange={go} />}
        <div className={styles.table}>
          <InventoryTable
            search={search}
            onChange={go}
            onRefused={() => setRefused(search.filter)}
            all={all}
            columns={columns}
            selection={selection}
          />
        </div>
      </div>
      {search.create && may('inventory.create') && (
        <CreateDialog
          type={search.type}
          onClose={() => go({ ...search, create: undefined })}
          onCreated={({ id }) => go({ ...search, create: undefined, peek: id })}
        />
      )}
    </Page>
  );
}

interface ActionsProps {
  search: InventorySearch;
  columns: readonly ShownColumn[];
  hasTree: boolean;
  onChange(search: InventorySearch): void;
}

/** At the right of the title: the look, the file, and a new card. */
function Actions({ search, columns, hasTree, onChange }: ActionsProps) {
  const t = useTexts();
  const may = useMay();
  return (
    <>
      {hasTree && (
        <SegmentedControl
          size="xs"
          className={styles.wide}
          aria-label={t('look.title')}
          data={[
            { value: 'table', label: t('look.table') },
            { value: 'tree', label: t('look.tree') },
          ]}
          value={search.tree ? 'tree' : 'table'}
          onChange={(look: string) =>
            onChange({ ...search, tree: look === 'tree' || undefined, sort: undefined, group: undefined })
          }
        />
      )}
      {may('inventory.export') && <ExportMenu search={search} columns={columns} />}
      {may('inventory.create') && (
        <Button leftSection={<Icon name="add" />} onClick={() => onChange({ ...search, create: true })}>
          {t('create.new')}
        </Button>
      )}
    </>
  );
}

/** The facets over the page, where there is no room beside the table. */
function FacetsDrawer(props: { search: InventorySearch; onChange(search: InventorySearch): void }) {
  const t = useTexts();
  const [isOpen, { open, close }] = useDisclosure(false);
  const isPhone = useMediaQuery('(max-width: 599px)', window.innerWidth < 600);
  return (
    <>
      <Button variant="default" leftSection={<Icon name="tune" />} onClick={open}>
        {t('facets.title')}
      </Button>
      <Drawer
        opened={isOpen}
        onClose={close}
        {...(isPhone ? { position: 'bottom' as const, size: '85%' } : { size: 300 })}
        title={t('facets.title')}
        closeButtonProps={{ 'aria-label': t('action.close') }}
      >
        <Facets {...props} />
      </Drawer>
    </>
  );
}

/** When archived cards are deleted. */
function ArchivedNotice() {
  const t = useTexts();
  const { data } = useQuery({
    queryKey: ['bootstrap', 'archive-retention'],
    queryFn: ({ signal }) => call(readArchiveRetention({ signal })),
  });
  return data ? <p className={styles.notice}>{t('archived.notice', { days: data.days })}</p> : null;
}

interface GroupSelectProps {
  columns: readonly Column[];
  search: InventorySearch;
  onChange(search: InventorySearch): void;
}

/** By which column the rows are grouped. */
function GroupSelect({ columns, search, onChange }: GroupSelectProps) {
  const t = useTexts();
  const current = columns.find(({ key }) => key === search.group);
  // one of the columns of a phase is enough
  const offered = columns.filter(({ key, groupBy }) => groupBy && key !== 'lifecycle');
  if (search.tree) return null;
  return (
    <Menu position="bottom-end" width={220}>
      <Menu.Target>
        <Button variant="subtle" color="gray" leftSection={<Icon name="workspaces" />}>
          {current ? t('group.by', { column: current.title }) : t('group.title')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={styles.views}>
        {current && (
          <Menu.Item
            leftSection={<Icon name="close" />}
            onClick={() => onChange({ ...search, group: undefined })}
          >
            {t('column.ungroup')}
          </Menu.Item>
        )}
        {offered.map(({ key, title }) => (
          <Menu.Item
            key={key}
            rightSection={key === search.group && <Icon name="check" />}
            onClick={() => onChange({ ...search, group: key })}
          >
            {title}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
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

interface SearchFieldProps {
  field: RefObject<HTMLInputElement | null>;
  value: string;
  onChange(text: string): void;
}

function SearchField({ field, value, onChange }: SearchFieldProps) {
  const t = useTexts();
  const [text, setText] = useState(value);
  const later = useDebouncedCallback(onChange, REST_MS);
  return (
    <TextInput
      ref={field}
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
