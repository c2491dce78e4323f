import { MultiSelect, Select, Textarea, TextInput } from '@mantine/core';
import { type KeyboardEvent, useRef, useState } from 'react';
import { OptionMark } from './marks.tsx';
import { useLanguage, useTexts } from './messages.tsx';
import { type Field, useMetamodel } from './metamodel.tsx';
import { editText, isNumeric, valueOfText } from './numbers.ts';

interface FieldEditorProps {
  field: Field;
  value: unknown;
  /** Why the last try was refused. */
  error?: string | undefined;
  /** Called with the new value; `null` clears. Unchanged values come too. */
  onSave(value: unknown): void;
  onCancel(): void;
}

/**
 * Edits the value of a field of any kind. Enter or leaving it saves (in texts of several lines Ctrl-Enter), Esc leaves it
 * as it was. The service checks values; what it refuses comes back as `error`.
 */
export function FieldEditor(props: FieldEditorProps) {
  const { field } = props;
  if (field.type === 'multiple_select') return <SeveralEditor {...props} />;
  if (field.type === 'boolean' || field.options) return <OptionEditor {...props} />;
  return <TextEditor {...props} />;
}

function TextEditor({ field, value, error, onSave, onCancel }: FieldEditorProps) {
  const { label } = useMetamodel();
  const { language } = useLanguage();
  const [text, setText] = useState(editText(value, language));
  // a key ends the edit before the field loses the focus
  const isDone = useRef(false);
  const finish = (run: () => void) => {
    if (isDone.current) return;
    isDone.current = true;
    run();
  };
  const isLong = field.type === 'multiline_text';
  const save = () => finish(() => onSave(valueOfText(field, text, language)));
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') {
      event.stopPropagation();
      finish(onCancel);
    } else if (event.key === 'Enter' && (!isLong || event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      save();
    }
  };
  const common = {
    'aria-label': label(field),
    autoFocus: true,
    error,
    value: text,
    onKeyDown,
    onBlur: save,
    onChange: (event: { target: { value: string } }) => setText(event.target.value),
  };
  if (isLong) return <Textarea {...common} autosize minRows={2} maxRows={16} />;
  return (
    <TextInput
      {...common}
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

function OptionEditor({ field, value, error, onSave, onCancel }: FieldEditorProps) {
  const { label } = useMetamodel();
  const choices = useChoices(field);
  const choose = (key: string | null) => onSave(field.options || key === null ? key : key === 'true');
  return (
    <Select
      {...choices}
      aria-label={label(field)}
      autoFocus
      error={error}
      value={value === undefined || value === null ? null : String(value)}
      defaultDropdownOpened
      clearable
      searchable={choices.data.length > 7}
      onChange={choose}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onCancel();
      }}
      onBlur={onCancel}
    />
  );
}

function SeveralEditor({ field, value, error, onSave, onCancel }: FieldEditorProps) {
  const { label } = useMetamodel();
  const choices = useChoices(field);
  const [chosen, setChosen] = useState<string[]>(Array.isArray(value) ? value.map(String) : []);
  const isLeft = useRef(false);
  return (
    <MultiSelect
      {...choices}
      aria-label={label(field)}
      autoFocus
      error={error}
      value={chosen}
      defaultDropdownOpened
      clearable
      searchable
      hidePickedOptions={false}
      onChange={setChosen}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        isLeft.current = true;
        onCancel();
      }}
      onBlur={() => {
        if (!isLeft.current) onSave(chosen.length > 0 ? chosen : null);
      }}
    />
  );
}
