import { Radio } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, type Card, call, mergeCards, readCard } from '#client';
import { FieldValue, none } from '../../kit/FieldValue.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { type Field, useMetamodel } from '../../kit/metamodel.tsx';
import { BulkDialog, type BulkProps, usePreview } from './BulkDialog.tsx';
import styles from './inventory.module.css';

/** Cards that are compared side by side. */
const MOST = 6;

/** A field of cards by its key in a merge, and its value. */
function mergedFields(fields: readonly Field[], texts: Record<string, string>) {
  const own = ['name', 'subtype', 'alias', 'description', 'external_id'] as const;
  return [
    ...own.map((key) => ({
      key: key as string,
      field: { key, type: 'text', label: texts[key]! } satisfies Field as Field,
      read: (card: Card) => card[key] as unknown,
    })),
    ...fields.map((field) => ({
      key: `attributes.${field.key}`,
      field,
      read: (card: Card) => card.attributes[field.key],
    })),
  ];
}

const isFilled = (value: unknown) => value !== undefined && value !== null && value !== '';
const textOf = (value: unknown) => JSON.stringify(isFilled(value) ? value : null);

/** Merges the selected cards into one of them; where they differ, a value is chosen. */
export function MergeDialog({ cards, onClose, onDone }: BulkProps) {
  const t = useTexts();
  const { sections, label } = useMetamodel();
  const [survivor, setSurvivor] = useState(cards[0]!.id);
  const [chosen, setChosen] = useState<Record<string, string>>({});
  const ids = cards.map(({ id }) => id);
  const { data: whole } = useQuery({
    queryKey: ['card', 'merge', ids],
    queryFn: ({ signal }) => Promise.all(ids.map((id) => call(readCard({ signal, path: { id } })))),
  });
  const merged_ids = ids.filter((id) => id !== survivor);
  const body = { survivor_id: survivor, merged_ids, fields: chosen };
  const { data: preview, reason } = usePreview(['merge', body], () =>
    call(mergeCards({ body: { ...body, dry_run: true } })),
  );
  const texts = {
    name: t('field.name'),
    subtype: t('field.subtype'),
    alias: t('field.alias'),
    description: t('field.description'),
    external_id: t('field.externalId'),
  };
  const fields = mergedFields(
    sections(cards[0]!.type)
      .flatMap((section) => section.fields)
      .filter(({ readonly }) => !readonly),
    texts,
  );
  const conflicts = fields.filter(
    ({ read }) => new Set((whole ?? []).map((card) => textOf(read(card)))).size > 1,
  );
  const moved = Object.values(preview?.moved ?? {}).reduce((sum, count) => sum + count, 0);
  const lost = (preview?.dropped_relations.length ?? 0) + (preview?.dropped_tags.length ?? 0);
  return (
    <BulkDialog
      title={t('merge.title', { count: cards.length })}
      submit={t('merge.submit', { count: cards.length })}
      isReady={preview !== undefined}
      size="xl"
      run={async () => {
        const { data, headers } = await answer(mergeCards({ body }));
        return { text: t('merge.done', { name: data.survivor.name }), headers };
      }}
      onClose={onClose}
      onDone={onDone}
    >
      <div className={styles.compare}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('merge.keep')}</th>
              {cards.map(({ id, name }) => (
                <th key={id} scope="col">
                  <Radio
                    label={name}
                    checked={survivor === id}
                    onChange={() => {
                      setSurvivor(id);
                      setChosen({});
                    }}
                  />
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {conflicts.map(({ key, field, read }) => {
              const kept = (preview && textOf(read(preview.survivor))) ?? '';
              return (
                <tr key={key}>
                  <th scope="row">{label(field)}</th>
                  {whole!.map((card) => (
                    <td key={card.id}>
                      {isFilled(read(card)) ? (
                        <Radio
                          label={<FieldValue field={field} value={read(card)} />}
                          checked={chosen[key] ? chosen[key] === card.id : textOf(read(card)) === kept}
                          onChange={() => setChosen({ ...chosen, [key]: card.id })}
                        />
                      ) : (
                        none
                      )}
                    </td>
                  ))}
                </tr>
              );
            })}
          </tbody>
        </table>
      </div>
      {whole && conflicts.length === 0 && <p>{t('merge.same')}</p>}
      {reason && <p className={styles.failure}>{reason}</p>}
      {preview && <p>{t('merge.preview', { moved, folded: preview.folded_relations.length, lost })}</p>}
    </BulkDialog>
  );
}

/** Whether cards can be merged with this dialog. */
export const canMerge = (cards: BulkProps['cards']): boolean =>
  cards.length >= 2 && cards.length <= MOST && new Set(cards.map(({ type }) => type)).size === 1;
