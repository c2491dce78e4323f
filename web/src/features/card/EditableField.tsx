import { type ReactNode, useRef } from 'react';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { type CardPatch, valueAt } from '../../kit/saveCard.ts';
import { useCard } from './context.tsx';
import { InlineField } from './InlineField.tsx';

interface EditableFieldProps {
  field: Field;
  /** Where the value is in the card, such as `attributes.costTotalAnnual`. */
  path: string;
  mark?: ReactNode;
  /** Whether others write it, such as a formula. */
  isFixed?: boolean;
}

/** A field of the card. */
export function EditableField({ field, path, mark, isFixed = false }: EditableFieldProps) {
  const { label } = useMetamodel();
  const { card, can, change } = useCard();
  const seen = useRef(card);
  return (
    <InlineField
      field={field}
      value={valueAt(card, path)}
      isEditable={can('edit') && !field.readonly && !isFixed}
      mark={mark}
      id={`field-${path}`}
      onBegin={() => {
        seen.current = card;
      }}
      onSave={(value) => change(label(field), patchOf(path, value), seen.current)}
    />
  );
}

/** The patch that sets the value at a path. */
export function patchOf(path: string, value: unknown): CardPatch {
  const [key, ...rest] = path.split('.');
  return (rest.length > 0 ? { [key!]: { [rest.join('.')]: value } } : { [key!]: value }) as CardPatch;
}
