import { Select, type SelectProps } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, listCards } from '#client';
import { useTexts } from './messages.tsx';

const SHOWN = 20;

/** A card as a list to choose from names it. */
export interface ChosenCard {
  id: string;
  name: string;
}

interface CardSelectProps extends Omit<SelectProps, 'value' | 'onChange' | 'data'> {
  /** Only cards of this type. */
  type: string;
  value: ChosenCard | null;
  exclude?: readonly string[];
  onChange(card: ChosenCard | null): void;
}

/** Finds an active card of a type; lists the first ones at once. */
export function CardSelect({ type, value, exclude = [], onChange, ...props }: CardSelectProps) {
  const t = useTexts();
  const [text, setText] = useState(value?.name ?? '');
  const [search] = useDebouncedValue(text.trim(), 150);
  const isNamed = value !== null && search === value.name;
  const { data } = useQuery({
    queryKey: ['cards', 'select', type, isNamed ? '' : search],
    queryFn: ({ signal }) =>
      call(
        listCards({
          signal,
          query: { type, page_size: SHOWN, fields: 'id,name,path', ...(search && !isNamed && { search }) },
        }),
      ),
    placeholderData: keepPreviousData,
  });
  const found = (data?.items ?? []).filter(({ id }) => id && !exclude.includes(id));
  const options = found.map(({ id, name, path }) => ({
    value: id!,
    label: [...(path ?? []).map((one) => one.name), name].join(' / '),
  }));
  const isListed = value === null || options.some((option) => option.value === value.id);
  return (
    <Select
      searchable
      clearable
      placeholder={t('card.find')}
      nothingFoundMessage={t('palette.none')}
      {...props}
      value={value?.id ?? null}
      searchValue={text}
      onSearchChange={setText}
      filter={({ options: all }) => all}
      data={isListed ? options : [...options, { value: value.id, label: value.name }]}
      onChange={(id: string | null) => {
        const card = found.find((one) => one.id === id);
        onChange(card ? { id: card.id!, name: card.name! } : null);
      }}
    />
  );
}
