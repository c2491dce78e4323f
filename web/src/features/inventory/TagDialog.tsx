import { MultiSelect } from '@mantine/core';
import { useState } from 'react';
import { answer, call, changeCardTags } from '#client';
import { useTexts } from '../../kit/messages.tsx';
import { BulkDialog, type BulkProps, Refusals, usePreview } from './BulkDialog.tsx';
import styles from './inventory.module.css';
import { useTagOptions } from './tags.ts';

/** Adds and removes tags of the selected cards. */
export function TagDialog({ cards, onClose, onDone }: BulkProps) {
  const t = useTexts();
  const [add, setAdd] = useState<string[]>([]);
  const [remove, setRemove] = useState<string[]>([]);
  const types = new Set(cards.map(({ type }) => type));
  const options = useTagOptions(types.size === 1 ? [...types][0] : undefined);
  const body = { card_ids: cards.map(({ id }) => id), add, remove };
  const isChosen = add.length + remove.length > 0;
  const { data, reason } = usePreview(
    ['tags', body],
    isChosen ? () => call(changeCardTags({ body: { ...body, dry_run: true } })) : undefined,
  );
  const results = data?.results ?? [];
  const changed = results.filter(({ status }) => status === 'updated').length;
  const refused = results
    .filter(({ status }) => status === 'refused')
    .map(({ card_id: id, message }) => ({ id, reason: message ?? '' }));
  return (
    <BulkDialog
      title={t('tag.title', { count: cards.length })}
      submit={t('bulk.apply', { count: changed })}
      isReady={isChosen && changed > 0}
      run={async () => {
        const { data: done, headers } = await answer(changeCardTags({ body }));
        return { text: t('bulk.changed', { count: done.updated }), headers };
      }}
      onClose={onClose}
      onDone={onDone}
    >
      <MultiSelect label={t('tag.add')} searchable data={options} value={add} onChange={setAdd} />
      <MultiSelect label={t('tag.remove')} searchable data={options} value={remove} onChange={setRemove} />
      {reason && <p className={styles.failure}>{reason}</p>}
      {isChosen && data && (
        <p>{t('bulk.preview', { changed, all: cards.length, refused: refused.length })}</p>
      )}
      <Refusals cards={cards} refused={refused} />
    </BulkDialog>
  );
}
