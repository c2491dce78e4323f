import { CloseButton, Combobox, TextInput, useCombobox } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { type ReactNode, type UIEvent, useEffect, useState } from 'react';
import controls from './control.module.css';
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
  /** How the offer reads; default: to create what was typed. */
  createText?: ((name: string) => string) | undefined;
  onCancel?: (() => void) | undefined;
  error?: string | undefined;
  autoFocus?: boolean;
  /** What stands in the field while nothing is typed: the present choice. */
  chosen?: string | undefined;
  /** Offers to take the present choice away. */
  onClear?: (() => void) | undefined;
  disabled?: boolean;
  /** Alone in its place, with its name above in a form, or with its name inside in a row of controls. */
  look?: 'alone' | 'form' | 'control';
  width?: number;
  className?: string | undefined;
}

const CREATE = '\u0000create';

/** A field that lists choices at once, finds by what is typed, and reads further ones on scrolling. */
export function Picker<T>(props: PickerProps<T>) {
  const { label, placeholder, idOf, isHidden, onPick, onCreate, onCancel, onClear, chosen } = props;
  const t = useTexts();
  const combobox = useCombobox();
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text.trim(), 150);
  const { data, isFetching, isPlaceholderData, hasNextPage, fetchNextPage } = useInfiniteQuery({
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
  // Enter chooses what is found first by the whole text, also if that is still read
  const [isEntered, setEntered] = useState(false);
  const isSettled = text.trim() === search && !isPlaceholderData && data !== undefined;
  // biome-ignore lint/correctness/useExhaustiveDependencies: only what is found decides
  useEffect(() => {
    if (!isSettled || search === '') return;
    if (isEntered && items[0]) submit(idOf(items[0]));
    else combobox.selectFirstOption();
    setEntered(false);
  }, [isSettled, data]);
  const canCreate = onCreate && search !== '' && !items.some((item) => props.textOf(item) === search);
  return (
    <Combobox
      store={combobox}
      onOptionSubmit={submit}
      shadow="md"
      {...(props.look === 'control' && { width: 280, position: 'bottom-start' as const })}
    >
      <Combobox.Target withExpandedAttribute>
        <TextInput
          role="combobox"
          {...looks(props)}
          placeholder={chosen ?? placeholder}
          autoFocus={props.autoFocus}
          disabled={props.disabled}
          error={props.error}
          value={text}
          rightSection={
            onClear &&
            chosen !== undefined && <CloseButton size="sm" aria-label={t('picker.clear')} onClick={onClear} />
          }
          onChange={(event) => {
            setText(event.target.value);
            setEntered(false);
            combobox.openDropdown();
            combobox.resetSelectedOption();
          }}
          onFocus={() => combobox.openDropdown()}
          onClick={() => combobox.openDropdown()}
          onBlur={() => {
            combobox.closeDropdown();
            onCancel?.();
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') onCancel?.();
            if (event.key === 'Enter' && text.trim() !== '') {
              // not a form around it
              event.preventDefault();
              setEntered(!isSettled);
            }
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
              {props.createText?.(search) ?? t('picker.create', { name: search })}
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

type Looks = Pick<PickerProps<unknown>, 'look' | 'label' | 'chosen' | 'width' | 'className'>;

/** The name and the looks of the field. */
function looks({ look = 'alone', label, chosen, width, className }: Looks) {
  const mark = [className, chosen !== undefined && styles.chosen].filter(Boolean).join(' ');
  const sized = width === undefined ? {} : { w: width };
  if (look === 'alone') return { 'aria-label': label, className: mark, ...sized };
  if (look === 'form') return { label, className: mark, ...sized };
  return {
    label,
    variant: 'unstyled',
    className: mark,
    classNames: {
      root: controls.control!,
      label: controls.label!,
      input: controls.input!,
      section: controls.section!,
    },
    ...sized,
  };
}
