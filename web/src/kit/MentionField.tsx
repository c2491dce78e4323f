import { Combobox, Textarea, useCombobox } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, useEffect, useRef, useState } from 'react';
import { call, listUsers } from '#client';
import { Avatar } from './marks.tsx';
import type { Mentioned } from './mentions.ts';
import styles from './picker.module.css';

interface MentionFieldProps {
  label: string;
  placeholder?: string;
  value: string;
  onChange(text: string): void;
  /** Called when a person is named. */
  onMention(person: Mentioned): void;
  /** Called for Ctrl-Enter. */
  onSubmit(): void;
  onCancel?(): void;
  error?: string | undefined;
  autoFocus?: boolean;
}

/** A text of several lines; `@` offers people to name. */
export function MentionField(props: MentionFieldProps) {
  const { value, onChange, onMention, onSubmit, onCancel } = props;
  const combobox = useCombobox();
  const field = useRef<HTMLTextAreaElement>(null);
  // what stands behind the `@` before the caret
  const [search, setSearch] = useState<string>();
  const { data } = useQuery({
    queryKey: ['users', 'mention', search],
    queryFn: ({ signal }) =>
      call(
        listUsers({
          signal,
          query: { ...(search && { search }), kind: 'person', page_size: 6, sort_by: 'display_name' },
        }),
      ),
    enabled: search !== undefined,
  });
  const people = search === undefined ? [] : (data?.items ?? []);
  const look = (text: string, caret: number) => {
    const found = /(?:^|\s)@([\p{L}\p{N}.'-]{0,30}(?: [\p{L}\p{N}.'-]{0,30})?)$/u.exec(text.slice(0, caret));
    setSearch(found?.[1]);
    if (found) combobox.openDropdown();
    else combobox.closeDropdown();
  };
  const pick = (id: string) => {
    const person = people.find((one) => one.id === id);
    const caret = field.current?.selectionStart ?? value.length;
    if (!person) return;
    const before = value.slice(0, caret - (search?.length ?? 0));
    onChange(`${before}${person.display_name} ${value.slice(caret)}`);
    onMention({ id, display_name: person.display_name! });
    setSearch(undefined);
    combobox.closeDropdown();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) onSubmit();
    if (event.key === 'Escape') {
      if (search === undefined) onCancel?.();
      setSearch(undefined);
      combobox.closeDropdown();
    }
  };
  const isOpen = combobox.dropdownOpened && people.length > 0;
  const first = isOpen ? people[0]!.id : undefined;
  // Enter takes the first person; people come after the letter that was typed
  useEffect(() => {
    if (first) combobox.selectFirstOption();
  }, [first, combobox.selectFirstOption]);
  return (
    <Combobox store={combobox} onOptionSubmit={pick} shadow="md" position="bottom-start">
      <Combobox.Target withKeyboardNavigation={isOpen} withAriaAttributes={isOpen}>
        <Textarea
          ref={field}
          aria-label={props.label}
          placeholder={props.placeholder}
          error={props.error}
          autoFocus={props.autoFocus}
          autosize
          minRows={2}
          maxRows={14}
          value={value}
          onChange={(event) => {
            onChange(event.target.value);
            look(event.target.value, event.target.selectionStart);
          }}
          onKeyDown={onKeyDown}
        />
      </Combobox.Target>
      <Combobox.Dropdown hidden={!isOpen}>
        <Combobox.Options>
          {people.map(({ id, display_name, email }) => (
            <Combobox.Option key={id} value={id!} className={styles.option}>
              <Avatar name={display_name!} size={20} />
              <span>
                {display_name} <span className={styles.note}>{email}</span>
              </span>
            </Combobox.Option>
          ))}
        </Combobox.Options>
      </Combobox.Dropdown>
    </Combobox>
  );
}
