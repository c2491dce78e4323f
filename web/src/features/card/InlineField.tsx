import { ActionIcon } from '@mantine/core';
import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { FieldEditor } from '../../kit/FieldEditor.tsx';
import { FieldValue } from '../../kit/FieldValue.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { useReason } from '../../kit/reasons.ts';
import styles from './card.module.css';

interface InlineFieldProps {
  field: Field;
  value: unknown;
  isEditable: boolean;
  /** Beside the name. */
  mark?: ReactNode;
  id?: string;
  onBegin?(): void;
  /** @throws ApiError with the reason at the field. */
  onSave(value: unknown): Promise<void>;
}

const isEmpty = (value: unknown) =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/**
 * A value with its name; a click edits it in place. The new value shows at once; if the service refuses it, the editor
 * is back with what was typed and the reason.
 */
export function InlineField({ field, value, isEditable, mark, id, onBegin, onSave }: InlineFieldProps) {
  const t = useTexts();
  const reasonOf = useReason();
  const { label } = useMetamodel();
  const [edit, setEdit] = useState<{ draft: unknown; error?: string; isSaving?: boolean }>();
  const isSaving = edit?.isSaving ?? false;
  const shown = isSaving ? edit!.draft : value;
  const save = async (draft: unknown) => {
    if (JSON.stringify(draft) === JSON.stringify(value ?? null)) return setEdit(undefined);
    setEdit({ draft, isSaving: true });
    try {
      await onSave(draft);
      setEdit(undefined);
    } catch (failed) {
      setEdit({ draft, error: reasonOf(failed) });
    }
  };
  const begin = () => {
    onBegin?.();
    setEdit({ draft: value });
  };
  const own = useId();
  const place = useRef<HTMLDivElement>(null);
  const wasEdited = useRef(false);
  // whoever types stays at the field when its editor is gone
  useEffect(() => {
    if (wasEdited.current && !edit && document.activeElement === document.body)
      place.current?.querySelector<HTMLElement>('[data-fill]')?.focus({ preventScroll: true });
    wasEdited.current = edit !== undefined;
  }, [edit]);
  return (
    <div
      ref={place}
      className={styles.field}
      aria-busy={isSaving}
      id={id}
      tabIndex={id === undefined ? undefined : -1}
    >
      <span className={styles.name} id={`${own}-name`}>
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
      ) : !isEditable || (field.type === 'url' && !isEmpty(value)) ? (
        <span className={styles.withButton}>
          <span className={styles.fixed}>
            <FieldValue field={field} value={shown} />
          </span>
          {isEditable && (
            <ActionIcon
              size="sm"
              aria-label={t('card.edit', { field: label(field) })}
              onClick={begin}
              data-fill
            >
              <Icon name="edit" />
            </ActionIcon>
          )}
        </span>
      ) : (
        <button
          type="button"
          className={styles.value}
          disabled={isSaving}
          id={`${own}-value`}
          aria-labelledby={`${own}-name ${own}-value`}
          onClick={begin}
          data-fill
        >
          {isEmpty(shown) ? (
            <span className="muted">{t('card.add', { field: label(field) })}</span>
          ) : (
            <FieldValue field={field} value={shown} />
          )}
        </button>
      )}
    </div>
  );
}
