import { ActionIcon } from '@mantine/core';
import { useId, useState } from 'react';
import { ApiError, type Card } from '#client';
import { FieldEditor } from '../../kit/FieldEditor.tsx';
import { FieldValue } from '../../kit/FieldValue.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { type CardPatch, valueAt } from '../../kit/saveCard.ts';
import styles from './card.module.css';
import { useCard } from './context.tsx';

interface EditableFieldProps {
  field: Field;
  /** Where the value is in the card, such as `attributes.costTotalAnnual`. */
  path: string;
  /** Beside the name. */
  mark?: React.ReactNode;
  /** Whether others write it: a formula, or a field that people do not change. */
  isFixed?: boolean;
}

const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** A field with its value; a click edits it in place. Enter saves, Esc leaves it. */
export function EditableField({ field, path, mark, isFixed = false }: EditableFieldProps) {
  const t = useTexts();
  const { label } = useMetamodel();
  const { card, can, change } = useCard();
  // the card when the edit began, and what was typed until the service has answered
  const [edit, setEdit] = useState<{ seen: Card; draft: unknown; error?: string }>();
  const [isSaving, setSaving] = useState(false);
  const value = isSaving ? edit!.draft : valueAt(card, path);
  const save = async (next: unknown) => {
    if (JSON.stringify(next) === JSON.stringify(valueAt(card, path))) return setEdit(undefined);
    const seen = edit!.seen;
    setEdit({ seen, draft: next });
    setSaving(true);
    try {
      await change(label(field), patchOf(path, next), seen);
      setEdit(undefined);
    } catch (failed) {
      setEdit({ seen, draft: next, error: reasonOf(failed) });
    }
    setSaving(false);
  };
  const id = useId();
  const isEditable = can('edit') && !field.readonly && !isFixed;
  const begin = () => setEdit({ seen: card, draft: value });
  const shown = (
    <span className={styles.fixed}>
      <FieldValue field={field} value={value} />
    </span>
  );
  const isLink = field.type === 'url' && !isEmpty(value);
  return (
    <div className={styles.field} aria-busy={isSaving} id={`field-${path}`} tabIndex={-1}>
      <span className={styles.name} id={`${id}-name`}>
        {label(field)}
        {mark}
      </span>
      {edit && !isSaving ? (
        <FieldEditor
          field={field}
          value={edit.draft}
          error={edit.error}
          onSave={(next) => void save(next)}
          onCancel={() => setEdit(undefined)}
        />
      ) : !isEditable ? (
        shown
      ) : isLink ? (
        <span className={styles.withButton}>
          {shown}
          <ActionIcon size="sm" aria-label={t('card.edit', { field: label(field) })} onClick={begin}>
            <Icon name="edit" />
          </ActionIcon>
        </span>
      ) : (
        <button
          type="button"
          className={styles.value}
          disabled={isSaving}
          id={`${id}-value`}
          aria-labelledby={`${id}-name ${id}-value`}
          onClick={begin}
        >
          {isEmpty(value) ? (
            <span className="muted">{t('card.add', { field: label(field) })}</span>
          ) : (
            <FieldValue field={field} value={value} />
          )}
        </button>
      )}
    </div>
  );
}

/** The patch that sets the value at a path. */
function patchOf(path: string, value: unknown): CardPatch {
  const [key, ...rest] = path.split('.');
  return (rest.length > 0 ? { [key!]: { [rest.join('.')]: value } } : { [key!]: value }) as CardPatch;
}

/** Why a write was refused, in a sentence. */
export const reasonOf = (failed: unknown): string =>
  failed instanceof ApiError ? (failed.errors[0]?.message ?? failed.message) : String(failed);
