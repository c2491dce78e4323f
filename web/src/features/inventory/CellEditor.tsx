import { MultiSelect, Popover, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { type KeyboardEvent, useRef, useState } from 'react';
import { CardSelect, type ChosenCard } from '../../kit/CardSelect.tsx';
import { optionMark } from '../../kit/FieldInput.tsx';
import { type Lifecycle, phases } from '../../kit/lifecycle.ts';
import { type MessageKey, useLanguage, useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { editText, valueOfText } from '../../kit/numbers.ts';
import type { CellEdit } from './edits.ts';
import styles from './table.module.css';
import { useTagOptions } from './tags.ts';

/** Where the focus goes after an edit. */
export type Leave = 'stay' | 'down' | 'right' | 'left';

export interface CellEditorProps {
  edit: CellEdit;
  cardType: string;
  cardId: string;
  /** What was typed to begin, or was refused before; undefined begins with the value. */
  begin: string | undefined;
  onSave(value: unknown, leave: Leave): void;
  onCancel(): void;
}

const leaveOf = (event: KeyboardEvent): Leave | undefined => {
  if (event.key === 'Tab') return event.shiftKey ? 'left' : 'right';
  return event.key === 'Enter' ? 'down' : undefined;
};

/** The control of a cell that is edited, by the kind of its value. */
export function CellEditor(given: CellEditorProps) {
  const { edit } = given;
  const isDone = useRef(false);
  // a control that goes away after Enter also loses the focus, which would save again
  const once = (act: () => void) => {
    if (isDone.current) return;
    isDone.current = true;
    act();
  };
  const onCancel = () => once(given.onCancel);
  const props = {
    ...given,
    onCancel,
    onSave: (value: unknown, leave: Leave) => once(() => given.onSave(value, leave)),
  };
  return (
    <div
      className={styles.editor}
      role="group"
      aria-label={edit.field.label}
      data-editor
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === 'Escape') onCancel();
      }}
    >
      {edit.kind === 'lifecycle' ? (
        <LifecycleEditor {...props} />
      ) : edit.kind === 'parent' ? (
        <ParentEditor {...props} />
      ) : edit.kind === 'tags' || edit.field.type === 'multiple_select' ? (
        <SeveralEditor {...props} />
      ) : edit.field.options || edit.field.type === 'boolean' ? (
        <OptionEditor {...props} />
      ) : (
        <TextEditor {...props} />
      )}
    </div>
  );
}

function TextEditor({ edit: { field, value }, begin, onSave }: CellEditorProps) {
  const { language } = useLanguage();
  const [text, setText] = useState(begin ?? editText(value, language));
  const isLong = field.type === 'multiline_text';
  const common = {
    'aria-label': field.label,
    autoFocus: true,
    value: text,
    onBlur: () => onSave(valueOfText(field, text, language), 'stay'),
    onKeyDown: (event: KeyboardEvent) => {
      const leave = leaveOf(event);
      if (!leave || (isLong && event.key === 'Enter' && event.shiftKey)) return;
      event.preventDefault();
      onSave(valueOfText(field, text, language), leave);
    },
  };
  if (isLong)
    return (
      <Textarea
        {...common}
        className={styles.longEditor}
        autosize
        minRows={3}
        maxRows={10}
        onChange={(event) => setText(event.target.value)}
      />
    );
  return (
    <TextInput
      {...common}
      type={field.type === 'date' ? 'date' : 'text'}
      inputMode={field.type === 'number' || field.type === 'cost' ? 'decimal' : undefined}
      classNames={{ input: styles.editorInput }}
      onChange={(event) => setText(event.target.value)}
    />
  );
}

function OptionEditor({ edit: { field, value }, begin, onSave, onCancel }: CellEditorProps) {
  const t = useTexts();
  const { label } = useMetamodel();
  const isBoolean = field.type === 'boolean';
  const options = isBoolean
    ? [
        { value: 'true', label: t('value.yes') },
        { value: 'false', label: t('value.no') },
      ]
    : field.options!.map((option) => ({ value: option.key, label: label(option) }));
  return (
    <Select
      aria-label={field.label}
      autoFocus
      defaultDropdownOpened
      searchable
      selectFirstOptionOnChange
      clearable={value !== null}
      classNames={{ input: styles.editorInput }}
      comboboxProps={{ width: 220, position: 'bottom-start' }}
      data={options}
      defaultSearchValue={begin}
      value={begin === undefined && value !== null ? String(value) : null}
      renderOption={({ option }) => (isBoolean ? option.label : optionMark(field, option.value))}
      onChange={(chosen: string | null) =>
        onSave(isBoolean && chosen !== null ? chosen === 'true' : chosen, 'stay')
      }
      onBlur={onCancel}
    />
  );
}

function SeveralEditor({ edit: { kind, field, value }, cardType, onSave }: CellEditorProps) {
  const { label } = useMetamodel();
  const tags = useTagOptions(cardType);
  const ids = (value as (string | { id: string })[] | null)?.map((one) =>
    typeof one === 'string' ? one : one.id,
  );
  const [chosen, setChosen] = useState(ids ?? []);
  return (
    <MultiSelect
      aria-label={field.label}
      autoFocus
      defaultDropdownOpened
      searchable
      className={styles.longEditor}
      data={
        kind === 'tags' ? tags : field.options!.map((option) => ({ value: option.key, label: label(option) }))
      }
      value={chosen}
      onChange={setChosen}
      onBlur={() => onSave(chosen, 'stay')}
      onKeyDown={(event) => {
        if (event.key !== 'Tab') return;
        event.preventDefault();
        onSave(chosen, event.shiftKey ? 'left' : 'right');
      }}
    />
  );
}

function ParentEditor({ edit: { field, value }, cardType, cardId, onSave, onCancel }: CellEditorProps) {
  return (
    <CardSelect
      aria-label={field.label}
      type={cardType}
      exclude={[cardId]}
      autoFocus
      defaultDropdownOpened
      className={styles.longEditor}
      value={value as ChosenCard | null}
      onChange={(card) => onSave(card?.id ?? null, 'stay')}
      onBlur={onCancel}
    />
  );
}

function LifecycleEditor({ edit: { field, value }, onSave, onCancel }: CellEditorProps) {
  const t = useTexts();
  const [dates, setDates] = useState<Lifecycle>((value as Lifecycle | null) ?? {});
  const save = (leave: Leave) => {
    const all = phases.map((phase) => [phase, dates[phase] || null]);
    onSave(Object.fromEntries(all), leave);
  };
  return (
    <Popover
      opened
      onChange={(isOpen) => !isOpen && save('stay')}
      position="bottom-start"
      trapFocus
      shadow="md"
    >
      <Popover.Target>
        <span className={styles.anchor} />
      </Popover.Target>
      <Popover.Dropdown aria-label={field.label}>
        <Stack
          gap="xs"
          data-editor
          onKeyDown={(event) => {
            event.stopPropagation();
            if (event.key === 'Escape') onCancel();
            if (event.key === 'Enter') save('down');
          }}
        >
          {phases.map((phase) => (
            <TextInput
              key={phase}
              type="date"
              label={t(`phase.${phase}` as MessageKey)}
              value={dates[phase] ?? ''}
              onChange={(event) => setDates({ ...dates, [phase]: event.target.value || undefined })}
            />
          ))}
        </Stack>
      </Popover.Dropdown>
    </Popover>
  );
}
