import { Button, Menu, Popover, TextInput } from '@mantine/core';
import { lazy, Suspense, useState } from 'react';
import { Icon } from '../../kit/Icon.tsx';
import { useKeys } from '../../kit/keys.ts';
import { useTexts } from '../../kit/messages.tsx';
import { ConditionEditor } from './ConditionEditor.tsx';
import { ConditionText } from './ConditionText.tsx';
import styles from './filter.module.css';
import { type Condition, filterText, type Part, partsOf } from './filter.ts';
import { type FilterField, operatorsOf, useFilterFields } from './filterFields.ts';
import type { InventorySearch } from './inventory.search.ts';

const FilterEditor = lazy(async () => ({ default: (await import('./FilterEditor.tsx')).FilterEditor }));

interface FilterBarProps {
  search: InventorySearch;
  /** Whether the service does not understand the filter. */
  isRefused: boolean;
  onChange(search: InventorySearch): void;
}

/** The filter as chips, one for each condition, or as the text that they stand for. */
export function FilterBar({ search, isRefused, onChange }: FilterBarProps) {
  const t = useTexts();
  const fields = useFilterFields(search.type);
  const [isOpen, setText] = useState(false);
  const isText = isOpen || isRefused;
  const [draft, setDraft] = useState<Condition>();
  const parts = partsOf(search.filter);
  const change = (next: readonly Part[]) => onChange({ ...search, filter: filterText(next) });
  const replace = (at: number, part: Part | undefined) =>
    change(parts.toSpliced(at, 1, ...(part ? [part] : [])));
  return (
    <div className={styles.area}>
      <div className={styles.bar}>
        {parts.map((part, at) =>
          typeof part === 'string' ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity than their place
            <span key={at} className={styles.chip}>
              <button type="button" title={part} onClick={() => setText(true)}>
                {t('filter.advanced')}
              </button>
              <Remove label={t('filter.advanced')} onClick={() => replace(at, undefined)} />
            </span>
          ) : (
            <Chip
              // biome-ignore lint/suspicious/noArrayIndexKey: parts have no other identity than their place
              key={at}
              condition={part}
              fields={fields}
              onChange={(next) => replace(at, next)}
            />
          ),
        )}
        {draft && (
          <Chip
            key="draft"
            condition={draft}
            fields={fields}
            isNew
            onChange={(next) => {
              setDraft(undefined);
              if (next) change([...parts, next]);
            }}
          />
        )}
        <FieldMenu
          fields={fields}
          onChoose={({ path, kind }) =>
            setDraft({ field: path, operator: operatorsOf[kind][0]!, values: [] })
          }
        />
        <Button
          variant={isText ? 'light' : 'subtle'}
          color={isText ? undefined : 'gray'}
          leftSection={<Icon name="code" />}
          aria-pressed={isText}
          onClick={() => setText(!isText)}
        >
          {t('filter.text')}
        </Button>
      </div>
      {isText && (
        <Suspense fallback={<div className={styles.loading} />}>
          <FilterEditor key={search.filter ?? ''} search={search} fields={fields} onChange={onChange} />
        </Suspense>
      )}
    </div>
  );
}

function Remove({ label, onClick }: { label: string; onClick(): void }) {
  const t = useTexts();
  return (
    <button type="button" aria-label={t('filter.remove', { field: label })} onClick={onClick}>
      <Icon name="close" size={14} />
    </button>
  );
}

interface ChipProps {
  condition: Condition;
  fields: readonly FilterField[];
  isNew?: boolean;
  /** Undefined removes it. */
  onChange(condition: Condition | undefined): void;
}

function Chip({ condition, fields, isNew = false, onChange }: ChipProps) {
  const [isOpen, setOpen] = useState(isNew);
  const field = fields.find(({ path }) => path === condition.field);
  const label = field?.label ?? condition.field;
  const close = () => {
    setOpen(false);
    if (isNew) onChange(undefined);
  };
  return (
    <Popover
      opened={isOpen}
      onChange={(next) => !next && close()}
      width={280}
      position="bottom-start"
      shadow="md"
      trapFocus
    >
      <span className={styles.chip}>
        <Popover.Target>
          <button type="button" aria-expanded={isOpen} onClick={() => (isOpen ? close() : setOpen(true))}>
            <span className="secondary">{label}</span>
            <ConditionText condition={condition} field={field} />
          </button>
        </Popover.Target>
        {!isNew && <Remove label={label} onClick={() => onChange(undefined)} />}
      </span>
      <Popover.Dropdown>
        <ConditionEditor
          condition={condition}
          field={field ?? { path: condition.field, label, kind: 'text' }}
          onApply={(next) => {
            setOpen(false);
            onChange(next);
          }}
        />
      </Popover.Dropdown>
    </Popover>
  );
}

function FieldMenu({
  fields,
  onChoose,
}: {
  fields: readonly FilterField[];
  onChoose(field: FilterField): void;
}) {
  const t = useTexts();
  const [text, setText] = useState('');
  const [isOpen, setOpen] = useState(false);
  useKeys({ f: () => setOpen(true) });
  const found = fields.filter(({ label }) => label.toLowerCase().includes(text.trim().toLowerCase()));
  return (
    <Menu
      width={240}
      position="bottom-start"
      opened={isOpen}
      onChange={setOpen}
      onClose={() => setText('')}
      trapFocus={false}
    >
      <Menu.Target>
        <Button variant="subtle" color="gray" leftSection={<Icon name="add" />}>
          {t('filter.add')}
        </Button>
      </Menu.Target>
      <Menu.Dropdown className={styles.fields}>
        <TextInput
          aria-label={t('filter.findField')}
          placeholder={t('filter.findField')}
          autoFocus
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !found[0]) return;
            event.preventDefault();
            setOpen(false);
            setText('');
            onChoose(found[0]);
          }}
        />
        {found.map((field) => (
          <Menu.Item key={field.path} onClick={() => onChoose(field)}>
            {field.label}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
