import { Combobox, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, type UIEvent, useState } from 'react';
import { useTexts } from './messages.tsx';
import styles from './picker.module.css';

/** Choices of one request. */
const PAGE = 30;
/** From how near to the end, in pixels, further choices are read. */
const AHEAD = 200;

interface PickerPage<T> {
  items: T[];
  total?: number;
}

export interface PickerProps<T> {
  label: string;
  placeholder?: string;
  /** Of the choices, besides the search. */
  queryKey: readonly unknown[];
  /** Reads one page (from 1) of choices. */
  read(
    query: { search: string; page: number; page_size: number },
    signal: AbortSignal,
  ): Promise<PickerPage<T>>;
  idOf(item: T): string;
  textOf(item: T): string;
  children(item: T): ReactNode;
  isHidden?(item: T): boolean;
  onPick(item: T): void;
  /** Offers to make what was typed. */
  onCreate?: ((name: string) => void) | undefined;
  onCancel?(): void;
  error?: string | undefined;
  autoFocus?: boolean;
  /** What stands in the field while nothing is typed: the present choice. */
  chosen?: string | undefined;
  disabled?: boolean;
}

const CREATE = '\u0000create';

/** A field that lists choices at once, finds by what is typed, and reads further ones on scrolling. */
export function Picker<T>(props: PickerProps<T>) {
  const { label, placeholder, idOf, isHidden, onPick, onCreate, onCancel, chosen } = props;
  const t = useTexts();
  const combobox = useCombobox();
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text.trim(), 150);
  const { data, isFetching, hasNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [...props.queryKey, 'pick', search],
    queryFn: ({ pageParam, signal }) => props.read({ search, page: pageParam, page_size: PAGE }, signal),
    initialPageParam: 1,
    getNextPageParam: (last, pages) => (last.items.length < PAGE ? undefined : pages.length + 1),
    placeholderData: keepPreviousData,
    enabled: combobox.dropdownOpened,
  });
  const items = (data?.pages ?? []).flatMap((page) => page.items).filter((item) => !isHidden?.(item));
  const onScroll = ({ currentTarget: { scrollHeight, scrollTop, clientHeight } }: UIEvent<HTMLElement>) => {
    if (hasNextPage && !isFetching && scrollHeight - scrollTop - clientHeight < AHEAD) void fetchNextPage();
  };
  const submit = (value: string) => {
    const item = items.find((one) => idOf(one) === value);
    combobox.closeDropdown();
    setText('');
    if (value === CREATE) onCreate?.(text.trim());
    else if (item) onPick(item);
  };
  const canCreate = onCreate && search !== '' && !items.some((item) => props.textOf(item) === search);
  return (
    <Combobox store={combobox} onOptionSubmit={submit} shadow="md">
      <Combobox.Target withExpandedAttribute>
        <TextInput
          role="combobox"
          aria-label={label}
          placeholder={chosen ?? placeholder}
          className={chosen === undefined ? undefined : styles.chosen}
          autoFocus={props.autoFocus}
          disabled={props.disabled}
          error={props.error}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            combobox.openDropdown();
            combobox.selectFirstOption();
          }}
          onFocus={() => combobox.openDropdown()}
          onClick={() => combobox.openDropdown()}
          onBlur={() => {
            combobox.closeDropdown();
            onCancel?.();
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onCancel?.();
          }}
        />
      </Combobox.Target>
      <Combobox.Dropdown>
        <Combobox.Options className={styles.options} onScroll={onScroll} aria-label={label}>
          {items.map((item) => (
            <Combobox.Option key={idOf(item)} value={idOf(item)} className={styles.option}>
              {props.children(item)}
            </Combobox.Option>
          ))}
          {canCreate && (
            <Combobox.Option value={CREATE} className={styles.option}>
              {t('picker.create', { name: search })}
            </Combobox.Option>
          )}
          {items.length === 0 && !canCreate && (
            <Combobox.Empty>{t(isFetching ? 'state.loading' : 'picker.none')}</Combobox.Empty>
          )}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
