import { Button, Checkbox, Popover, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../kit/Icon.tsx';
import { type MessageKey, useTexts } from '../../kit/messages.tsx';
import styles from './chooser.module.css';
import type { ShownColumn } from './layout.ts';
import type { Column, ColumnGroup } from './types.ts';

const groups: [ColumnGroup, MessageKey][] = [
  ['card', 'columns.card'],
  ['attributes', 'columns.attributes'],
  ['costs', 'columns.costs'],
  ['relations', 'columns.relations'],
  ['people', 'columns.people'],
  ['metadata', 'columns.metadata'],
];

interface ColumnChooserProps {
  columns: readonly Column[];
  shown: readonly ShownColumn[];
  hasType: boolean;
  /** Without columns: the usual ones. */
  onChange(shown: readonly ShownColumn[] | undefined): void;
}

/** Which columns the table shows. */
export function ColumnChooser({ columns, shown, hasType, onChange }: ColumnChooserProps) {
  const t = useTexts();
  const [text, setText] = useState('');
  const isShown = new Set(shown.map(({ key }) => key));
  const found = columns.filter(({ title }) => title.toLowerCase().includes(text.trim().toLowerCase()));
  const change = (changed: readonly Column[], isOn: boolean) => {
    const keys = new Set(changed.map(({ key }) => key));
    const kept = shown.filter(({ key }) => key === 'name' || !keys.has(key));
    const added = changed
      .filter(({ key }) => key !== 'name')
      .map((one) => ({ ...one, width: one.usualWidth }));
    onChange(isOn ? [...kept, ...added] : kept);
  };
  return (
    <Popover width={300} position="bottom-end" shadow="md" trapFocus>
      <Popover.Target>
        <Button variant="subtle" color="gray" leftSection={<Icon name="view_column" />}>
          {t('columns.count', { shown: shown.length, all: columns.length })}
        </Button>
      </Popover.Target>
      <Popover.Dropdown className={styles.chooser}>
        <TextInput
          aria-label={t('columns.search')}
          placeholder={t('columns.search')}
          leftSection={<Icon name="search" />}
          value={text}
          onChange={(event) => setText(event.target.value)}
        />
        <div className={styles.list}>
          {groups.map(([group, title]) => {
            const own = found.filter((column) => column.group === group);
            if (own.length === 0) return null;
            const on = own.filter(({ key }) => isShown.has(key));
            return (
              <section key={group}>
                <Checkbox
                  className={styles.group}
                  label={`${t(title)} · ${on.length}/${own.length}`}
                  checked={on.length === own.length}
                  indeterminate={on.length > 0 && on.length < own.length}
                  onChange={() => change(own, on.length < own.length)}
                />
                {own.map((column) => (
                  <Checkbox
                    key={column.key}
                    className={styles.column}
                    label={column.title}
                    disabled={column.key === 'name'}
                    checked={isShown.has(column.key)}
                    onChange={(event) => change([column], event.target.checked)}
                  />
                ))}
              </section>
            );
          })}
          {found.length === 0 && <p className="secondary">{t('columns.none')}</p>}
          {!hasType && <p className="secondary">{t('columns.chooseType')}</p>}
        </div>
        <Button variant="default" onClick={() => onChange(undefined)}>
          {t('columns.reset')}
        </Button>
      </Popover.Dropdown>
    </Popover>
  );
}
