import { MultiSelect, Select, Textarea, TextInput } from '@mantine/core';
import { type KeyboardEvent, useRef, useState } from 'react';
import { OptionMark } from './marks.tsx';
import { useLanguage, useTexts } from './messages.tsx';
import { type Field, useMetamodel } from './metamodel.tsx';
import { editText, isNumeric, valueOfText } from './numbers.ts';
import { useOnce } from './once.ts';

/** Where the focus goes after an edit. */
export type Leave = 'stay' | 'down' | 'right' | 'left';

export interface FieldEditorProps {
  field: Field;
  value: unknown;
  /** Why the last try was refused. */
  error?: string | undefined;
  /** What was typed to begin; without it, the value is there. */
  begin?: string | undefined;
  /** The classes of controls in a cell of a table, of one line and of several; there Enter and Tab lead on. */
  cell?: { input: string; long: string };
  /** Called with the new value; `null` clears. Unchanged values come too. */
  onSave(value: unknown, leave: Leave): void;
  onCancel(): void;
}

/**
 * Edits the value of a field of any kind. Enter or leaving it saves (in texts of several lines Ctrl-Enter), Esc leaves it
 * as it was. The service checks values; what it refuses comes back as `error`.
 */
export function FieldEditor(given: FieldEditorProps) {
  const { field } = given;
  const props = useOnce(given);
  if (field.type === 'multiple_select') return <OptionsEditor {...props} />;
  if (field.type === 'boolean' || field.options) return <OptionEditor {...props} />;
  return <TextEditor {...props} />;
}

/** Where a key leads from a control; undefined for keys that do not end the edit. */
function leaveOf(event: KeyboardEvent, isCell: boolean, isLong = false): Leave | undefined {
  if (event.key === 'Tab' && isCell) return event.shiftKey ? 'left' : 'right';
  if (event.key !== 'Enter') return undefined;
  const isCommand = event.ctrlKey || event.metaKey;
  if (isCell) return isLong && event.shiftKey ? undefined : 'down';
  return isLong && !isCommand ? undefined : 'stay';
}

function TextEditor({ field, value, error, begin, cell, onSave, onCancel }: FieldEditorProps) {
  const { label } = useMetamodel();
  const { language } = useLanguage();
  const [text, setText] = useState(begin ?? editText(value, language));
  const isLong = field.type === 'multiline_text';
  const save = (leave: Leave) => onSave(valueOfText(field, text, language), leave);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      return onCancel();
    }
    const leave = leaveOf(event, cell !== undefined, isLong);
    if (!leave) return;
    event.preventDefault();
    save(leave);
  };
  const common = {
    'aria-label': label(field),
    autoFocus: true,
    error,
    value: text,
    onKeyDown,
    onBlur: () => save('stay'),
    onChange: (event: { target: { value: string } }) => setText(event.target.value),
  };
  if (isLong)
    return (
      <Textarea {...common} className={cell?.long} autosize minRows={cell ? 3 : 2} maxRows={cell ? 10 : 16} />
    );
  return (
    <TextInput
      {...common}
      {...(cell && { classNames: { input: cell.input } })}
      type={field.type === 'date' ? 'date' : 'text'}
      inputMode={isNumeric(field) ? 'decimal' : field.type === 'url' ? 'url' : undefined}
    />
  );
}

/** The choices of a field, and how one is drawn. */
function useChoices(field: Field) {
  const t = useTexts();
  const { label } = useMetamodel();
  const options = field.options ?? [];
  const data = field.options
    ? options.map((option) => ({ value: option.key, label: label(option) }))
    : [
        { value: 'true', label: t('value.yes') },
        { value: 'false', label: t('value.no') },
      ];
  const renderOption = ({ option: { value, label: text } }: { option: { value: string; label: string } }) => {
    const at = options.findIndex(({ key }) => key === value);
    return at < 0 ? text : <OptionMark option={options[at]!} field={field.key} step={options.length - at} />;
  };
  return { data, renderOption };
}

function OptionEditor({ field, value, error, begin, cell, onSave, onCancel }: FieldEditorProps) {
  const { label } = useMetamodel();
  const choices = useChoices(field);
  const isEmpty = value === undefined || value === null;
  return (
    <Select
      {...choices}
      {...(cell && {
        classNames: { input: cell.input },
        comboboxProps: { width: 220, position: 'bottom-start' as const },
      })}
      aria-label={label(field)}
      autoFocus
      error={error}
      value={isEmpty || begin !== undefined ? null : String(value)}
      defaultSearchValue={begin}
      defaultDropdownOpened
      clearable={!isEmpty}
      searchable={cell !== undefined || choices.data.length > 7}
      selectFirstOptionOnChange
      onChange={(key: string | null) => onSave(field.options || key === null ? key : key === 'true', 'stay')}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
      onBlur={onCancel}
    />
  );
}

interface SeveralEditorProps extends Omit<FieldEditorProps, 'field' | 'value'> {
  label: string;
  data: readonly (
    | { value: string; label: string }
    | { group: string; items: { value: string; label: string }[] }
  )[];
  value: readonly string[];
  renderOption?: ReturnType<typeof useChoices>['renderOption'];
}

function OptionsEditor({ field, value, ...props }: FieldEditorProps) {
  const { label } = useMetamodel();
  const chosen = Array.isArray(value) ? value.map(String) : [];
  return <SeveralEditor {...props} {...useChoices(field)} label={label(field)} value={chosen} />;
}

/** Chooses several of some values; none is `null`. */
export function SeveralEditor(props: SeveralEditorProps) {
  const { label, value, data, renderOption, error, cell, onSave, onCancel } = props;
  const [chosen, setChosen] = useState([...value]);
  const isLeft = useRef(false);
  const save = (leave: Leave) => onSave(chosen.length > 0 ? chosen : null, leave);
  return (
    <MultiSelect
      {...(renderOption && { renderOption })}
      data={data as { value: string; label: string }[]}
      className={cell?.long}
      aria-label={label}
      autoFocus
      error={error}
      value={chosen}
      defaultDropdownOpened
      clearable
      searchable
      hidePickedOptions={false}
      onChange={setChosen}
      onKeyDown={(event) => {
        if (event.key === 'Tab' && cell) {
          event.preventDefault();
          isLeft.current = true;
          save(event.shiftKey ? 'left' : 'right');
        }
        if (event.key !== 'Escape') return;
        isLeft.current = true;
        onCancel();
      }}
      onBlur={() => {
        if (!isLeft.current) save('stay');
      }}
    />
  );
}
