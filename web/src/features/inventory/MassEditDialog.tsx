import { ActionIcon, Select } from '@mantine/core';
import { useState } from 'react';
import { answer, call, type PatchCardBody, patchCards } from '#client';
import { FieldInput } from '../../kit/FieldInput.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { BulkDialog, type BulkProps, usePreview } from './BulkDialog.tsx';
import { useCellText } from './cellText.ts';
import styles from './inventory.module.css';

/** Cards whose old and new values are listed. */
const LISTED = 20;

/** A field that many cards can get at once, and the change that sets it. */
interface Editable {
  key: string;
  field: Field;
  patch(value: unknown): PatchCardBody;
}

function useEditable(type: string): Editable[] {
  const t = useTexts();
  const { sections, label, type: typeOf } = useMetamodel();
  const options = (typeOf(type)?.subtypes ?? []) as Field['options'];
  const own = (key: string, text: string, kind: string, more: Partial<Field> = {}): Editable => ({
    key,
    field: { key, label: text, type: kind, ...more },
    patch: (value) => ({ [key]: value }) as PatchCardBody,
  });
  return [
    ...(options?.length ? [own('subtype', t('field.subtype'), 'single_select', { options })] : []),
    ...sections(type)
      .flatMap((section) => section.fields)
      .filter(({ readonly }) => !readonly)
      .map((field) => ({
        key: `attributes.${field.key}`,
        field: { ...field, label: label(field) },
        patch: (value: unknown) => ({ attributes: { [field.key]: value } }),
      })),
    own('description', t('field.description'), 'multiline_text'),
    ...(['plan', 'phaseIn', 'active', 'phaseOut', 'endOfLife'] as const).map((phase) => ({
      key: `lifecycle.${phase}`,
      field: { key: phase, label: t('filter.phaseDate', { phase: t(`phase.${phase}`) }), type: 'date' },
      patch: (value: unknown) => ({ lifecycle: { [phase]: value as string | null } }),
    })),
  ];
}

/** Sets fields of all selected cards, after their old and new values were shown. */
export function MassEditDialog({ cards, onClose, onDone }: BulkProps) {
  const t = useTexts();
  const fields = useEditable(cards[0]!.type);
  const { valueText } = useCellText();
  const [values, setValues] = useState<Record<string, unknown>>({});
  const chosen = Object.keys(values).flatMap((key) => fields.find((one) => one.key === key) ?? []);
  const updates: Record<string, unknown> = {};
  for (const { key, patch } of chosen)
    for (const [member, value] of Object.entries(patch(values[key] ?? null))) {
      const isPart = member === 'attributes' || member === 'lifecycle';
      updates[member] = isPart ? { ...(updates[member] as object), ...(value as object) } : value;
    }
  const body = { ids: cards.map(({ id }) => id), updates: updates as PatchCardBody };
  const { data, reason } = usePreview(
    ['edit', body],
    chosen.length > 0 ? () => call(patchCards({ body: { ...body, dry_run: true } })) : undefined,
  );
  const changed = (data?.results ?? []).filter(({ status }) => status === 'would_update');
  const names = new Map(cards.map(({ id, name }) => [id, name]));
  const at = (side: Record<string, unknown>, key: string) => {
    const [member, name] = key.split(/\.(.*)/s);
    return name ? (side[member!] as Record<string, unknown> | undefined)?.[name] : side[member!];
  };
  return (
    <BulkDialog
      title={t('edit.title', { count: cards.length })}
      submit={t('bulk.apply', { count: changed.length })}
      isReady={changed.length > 0}
      size="lg"
      run={async () => {
        const { data: done, headers } = await answer(patchCards({ body }));
        return { text: t('bulk.changed', { count: done.updated }), headers };
      }}
      onClose={onClose}
      onDone={onDone}
    >
      {chosen.map(({ key, field }) => (
        <div key={key} className={styles.editedField}>
          <FieldInput
            field={field}
            label={field.label}
            value={values[key]}
            onChange={(value) => setValues({ ...values, [key]: value })}
          />
          <ActionIcon
            aria-label={t('edit.leave', { field: field.label })}
            onClick={() => {
              const { [key]: _, ...others } = values;
              setValues(others);
            }}
          >
            <Icon name="close" />
          </ActionIcon>
        </div>
      ))}
      <Select
        key={chosen.length}
        label={t('edit.add')}
        searchable
        value={null}
        data={fields
          .filter(({ key }) => !(key in values))
          .map(({ key, field }) => ({ value: key, label: field.label }))}
        onChange={(key: string | null) => key && setValues({ ...values, [key]: null })}
      />
      {reason && <p className={styles.failure}>{reason}</p>}
      {data && (
        <>
          <p className={styles.names}>
            {t('bulk.preview', { changed: changed.length, all: cards.length, refused: 0 })}
          </p>
          <div className={styles.compare}>
            <table>
              <tbody>
                {changed.slice(0, LISTED).map(({ card_id, before, after }) => (
                  <tr key={card_id}>
                    <th scope="row">{names.get(card_id)}</th>
                    <td>
                      {chosen
                        .filter(({ key }) => at(after, key) !== undefined)
                        .map(({ key, field }) => (
                          <div key={key} className={styles.change}>
                            <span className="secondary">{field.label}</span>
                            <s>{valueText(field, at(before, key)) || '–'}</s>
                            <span>{valueText(field, at(after, key)) || '–'}</span>
                          </div>
                        ))}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </div>
        </>
      )}
    </BulkDialog>
  );
}
