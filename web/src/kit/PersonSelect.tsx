import { Select } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call, listUsers } from '#client';
import { useTexts } from './messages.tsx';

const SHOWN = 20;

interface PersonSelectProps {
  label: string;
  /** People that are not offered. */
  exclude?: readonly string[];
  onChoose(person: { id: string; name: string }): void;
}

/** Finds an active person by name; the field is empty again after the choice. */
export function PersonSelect({ label, exclude = [], onChoose }: PersonSelectProps) {
  const t = useTexts();
  const [text, setText] = useState('');
  const [search] = useDebouncedValue(text.trim(), 150);
  const { data } = useQuery({
    queryKey: ['people', 'search', search],
    queryFn: ({ signal }) =>
      call(listUsers({ signal, query: { page_size: SHOWN, ...(search && { search }) } })),
    placeholderData: keepPreviousData,
  });
  const people = (data?.items ?? []).filter(({ id }) => id && !exclude.includes(id));
  return (
    <Select
      label={label}
      placeholder={t('person.find')}
      searchable
      value={null}
      searchValue={text}
      onSearchChange={setText}
      filter={({ options }) => options}
      data={people.map(({ id, display_name }) => ({ value: id!, label: display_name ?? id! }))}
      nothingFoundMessage={t('palette.none')}
      onChange={(id: string | null) => {
        const found = people.find((one) => one.id === id);
        if (found) onChoose({ id: found.id!, name: found.display_name ?? '?' });
        setText('');
      }}
    />
  );
}
