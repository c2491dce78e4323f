import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, listCards } from '#client';
import controls from './control.module.css';
import { TypeMark } from './marks.tsx';

/** A card as pickers name it. */
export interface PickedCard {
  id: string;
  name: string;
  type: string;
}

/** The name and type of a card; undefined until it is known, or without an id. */
export function useCardName(id: string | undefined): PickedCard | undefined {
  const { data } = useQuery({
    queryKey: ['cards', 'name', id],
    queryFn: ({ signal }) =>
      call(listCards({ signal, query: { ids: id!, fields: 'id,name,type', page_size: 1 } as never })),
    enabled: id !== undefined,
  });
  return data?.items[0] as PickedCard | undefined;
}

interface CardPickerProps {
  label: string;
  placeholder?: string;
  value: string | undefined;
  /** Only cards of this type. */
  type?: string | undefined;
  width?: number;
  onChange(card: PickedCard | undefined): void;
}

/** Finds one card by its name, in a row of controls. */
export function CardPicker({ label, placeholder, value, type, width = 200, onChange }: CardPickerProps) {
  const [text, setText] = useState('');
  const chosen = useCardName(value);
  const [search] = useDebouncedValue(text === chosen?.name ? '' : text.trim(), 150);
  const { data } = useQuery({
    queryKey: ['cards', 'picker', type, search],
    queryFn: ({ signal }) =>
      call(
        listCards({
          signal,
          query: {
            page_size: 20,
            fields: 'id,name,type',
            ...(type && { type }),
            ...(search ? { search, sort_by: 'relevance' } : { sort_by: 'name' }),
          },
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const found = (data?.items ?? []) as PickedCard[];
  const cards = chosen && !found.some(({ id }) => id === chosen.id) ? [chosen, ...found] : found;
  const byId = new Map(cards.map((card) => [card.id, card]));
  return (
    <Select
      label={label}
      placeholder={placeholder}
      variant="unstyled"
      searchable
      clearable={value !== undefined}
      value={value && byId.has(value) ? value : null}
      searchValue={text}
      onSearchChange={setText}
      filter={({ options }) => options}
      data={cards.map((card) => ({ value: card.id, label: card.name }))}
      renderOption={({ option }) => (
        <span className={controls.option}>
          <TypeMark type={byId.get(option.value)?.type ?? ''} size={18} />
          {option.label}
        </span>
      )}
      comboboxProps={{ width: 280, position: 'bottom-start' }}
      onChange={(id: string | null) => onChange(id === null ? undefined : byId.get(id))}
      classNames={{
        root: controls.control!,
        label: controls.label!,
        input: controls.input!,
        section: controls.section!,
      }}
      styles={{ root: { width } }}
    />
  );
}
