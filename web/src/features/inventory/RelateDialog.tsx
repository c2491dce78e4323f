import { Radio, Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { answer, bulkRelations, call } from '#client';
import { CardFinder, type PickedCard } from '../../kit/finders.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { BulkDialog, type BulkProps, Refusals, usePreview } from './BulkDialog.tsx';
import { useColumns } from './columns.tsx';
import styles from './inventory.module.css';

/** Adds or removes a relation between each selected card and another one. */
export function RelateDialog({ cards, onClose, onDone }: BulkProps) {
  const t = useTexts();
  const type = cards[0]!.type;
  const relations = useColumns(type).filter(({ relation }) => relation);
  const [key, setKey] = useState<string | null>(relations[0]?.key ?? null);
  const [other, setOther] = useState<PickedCard | null>(null);
  const [action, setAction] = useState<'upsert' | 'delete'>('upsert');
  const chosen = relations.find((one) => one.key === key)?.relation;
  const operations = cards.map(({ id }, row_index) => {
    const [self, target] = [{ id }, { id: other?.id }];
    const ends = chosen?.end === 'target' ? { source: self, target } : { source: target, target: self };
    return { row_index, action, type: chosen?.type ?? '', ...ends };
  });
  const { data, reason } = usePreview(
    ['relate', action, key, other?.id, cards.map(({ id }) => id)],
    chosen && other ? () => call(bulkRelations({ body: { operations, dry_run: true } })) : undefined,
  );
  const results = data?.results ?? [];
  const changed = results.filter(({ status }) => status === 'upserted' || status === 'deleted').length;
  const refused = results
    .filter(({ status }) => status === 'failed')
    .map(({ row_index, error }) => ({ id: cards[row_index]!.id, reason: error ?? '' }));
  return (
    <BulkDialog
      title={t('relate.title', { count: cards.length })}
      submit={t(action === 'upsert' ? 'relate.add' : 'relate.remove', { count: changed })}
      isReady={changed > 0}
      run={async () => {
        const { headers } = await answer(bulkRelations({ body: { operations } }));
        return { text: t('relate.done', { count: changed }), headers };
      }}
      onClose={onClose}
      onDone={onDone}
    >
      <Radio.Group
        value={action}
        onChange={(value: string) => setAction(value as typeof action)}
        aria-label={t('relate.action')}
      >
        <Stack gap={6}>
          <Radio value="upsert" label={t('relate.addChoice')} />
          <Radio value="delete" label={t('relate.removeChoice')} />
        </Stack>
      </Radio.Group>
      <Select
        label={t('relate.type')}
        searchable
        allowDeselect={false}
        value={key}
        data={relations.map((column) => ({ value: column.key, label: column.title }))}
        onChange={(value: string | null) => {
          setKey(value);
          setOther(null);
        }}
      />
      {chosen && (
        <CardFinder
          key={key}
          look="form"
          label={t('relate.card')}
          placeholder={t('card.find')}
          types={[relations.find((one) => one.key === key)!.relation!.other]}
          chosen={other?.name}
          onPick={setOther}
          onClear={() => setOther(null)}
        />
      )}
      {reason && <p className={styles.failure}>{reason}</p>}
      {data && <p>{t('bulk.preview', { changed, all: cards.length, refused: refused.length })}</p>}
      <Refusals cards={cards} refused={refused} />
    </BulkDialog>
  );
}
