import { Select, Switch, Textarea, TextInput } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { ApiError } from '#client';
import { FieldValue } from '../../kit/FieldValue.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import styles from './card.module.css';

interface EditableFieldProps {
  field: Field;
  value: unknown;
  canEdit: boolean;
  /** @throws ApiError with the reason at the field. */
  onSave(value: unknown): Promise<void>;
}

/** A field with its value; a click edits it in place. Enter saves, Esc leaves it. */
export function EditableField({ field, value, canEdit, onSave }: EditableFieldProps) {
  const t = useTexts();
  const { label } = useMetamodel();
  const [isEditing, setEditing] = useState(false);
  const [error, setError] = useState<string>();
  const save = async (next: unknown) => {
    if (next === value || (next === null && value === undefined)) return setEditing(false);
    try {
      await onSave(next);
      setEditing(false);
      setError(undefined);
    } catch (failed) {
      setError(failed instanceof ApiError ? (failed.errors[0]?.message ?? failed.message) : String(failed));
    }
  };
  const isEditable = canEdit && !field.readonly && editors.has(field.type);
  return (
    <div className={styles.field}>
      <span className="secondary">{label(field)}</span>
      {isEditing ? (
        <Editor field={field} value={value} error={error} onSave={save} onCancel={() => setEditing(false)} />
      ) : isEditable ? (
        <button type="button" className={styles.value} onClick={() => setEditing(true)}>
          {value === undefined || value === null || value === '' ? (
            <span className="muted">{t('card.add', { field: label(field).toLowerCase() })}</span>
          ) : (
            <FieldValue field={field} value={value} />
          )}
        </button>
      ) : (
        <span className={styles.fixed}>
          <FieldValue field={field} value={value} />
        </span>
      )}
    </div>
  );
}

/** Kinds of fields that can be edited in place. */
const editors = new Set([
  'text',
  'multiline_text',
  'number',
  'cost',
  'date',
  'boolean',
  'single_select',
  'url',
  'email',
]);

interface EditorProps {
  field: Field;
  value: unknown;
  error: string | undefined;
  onSave(value: unknown): Promise<void>;
  onCancel(): void;
}

function Editor({ field, value, error, onSave, onCancel }: EditorProps) {
  const { label } = useMetamodel();
  const [text, setText] = useState(value === undefined || value === null ? '' : String(value));
  const isNumber = field.type === 'number' || field.type === 'cost';
  const result = () => {
    const trimmed = text.trim();
    if (trimmed === '') return null;
    return isNumber && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') onCancel();
    else if (event.key === 'Enter' && !event.shiftKey) {
      event.preventDefault();
      void onSave(result());
    }
  };
  const common = { 'aria-label': label(field), autoFocus: true, error, onKeyDown };
  if (field.type === 'boolean')
    return (
      <Switch
        {...common}
        size="xs"
        checked={value === true}
        onChange={(event) => onSave(event.target.checked)}
        onBlur={onCancel}
      />
    );
  if (field.options)
    return (
      <Select
        {...common}
        data={field.options.map((option) => ({ value: option.key, label: label(option) }))}
        value={text || null}
        defaultDropdownOpened
        clearable
        searchable
        onChange={(chosen: string | null) => onSave(chosen)}
        onBlur={onCancel}
      />
    );
  const input = { ...common, value: text, onBlur: () => void onSave(result()) };
  if (field.type === 'multiline_text')
    return <Textarea {...input} autosize minRows={2} onChange={(event) => setText(event.target.value)} />;
  return (
    <TextInput
      {...input}
      type={field.type === 'date' ? 'date' : 'text'}
      inputMode={isNumber ? 'decimal' : undefined}
      onChange={(event) => setText(event.target.value)}
    />
  );
}
