import { Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import { answer, call, setCardApprovals } from '#client';
import { useTexts } from '../../kit/messages.tsx';
import { BulkDialog, type BulkProps, Refusals, usePreview } from './BulkDialog.tsx';
import styles from './inventory.module.css';

const actions = ['approve', 'reject', 'reset'] as const;

/** Approves, rejects or resets the selected cards; those that lack something are named. */
export function ApprovalDialog({ cards, onClose, onDone }: BulkProps) {
  const t = useTexts();
  const [action, setAction] = useState<(typeof actions)[number]>('approve');
  const body = { card_ids: cards.map(({ id }) => id), action };
  const { data, reason } = usePreview(['approval', body], () =>
    call(setCardApprovals({ body: { ...body, dry_run: true } })),
  );
  const results = data?.results ?? [];
  const changed = results.filter(({ status }) => status === 'updated').length;
  const refused = results
    .filter(({ status }) => status === 'refused')
    .map(({ card_id: id, message, missing_relations, missing_tag_groups }) => {
      const missing = [...missing_relations, ...missing_tag_groups].map((one) =>
        'label' in one ? String(one.label) : 'name' in one ? one.name : '',
      );
      return { id, reason: [message, missing.filter(Boolean).join(', ')].filter(Boolean).join(': ') };
    });
  return (
    <BulkDialog
      title={t('approve.title', { count: cards.length })}
      submit={t(`approve.${action}`, { count: changed })}
      isReady={changed > 0}
      run={async () => {
        const { data: done, headers } = await answer(setCardApprovals({ body }));
        return { text: t('bulk.changed', { count: done.updated }), headers };
      }}
      onClose={onClose}
      onDone={onDone}
    >
      <Radio.Group
        label={t('field.approval')}
        value={action}
        onChange={(value: string) => setAction(value as typeof action)}
      >
        <Stack gap={6} mt={6}>
          {actions.map((one) => (
            <Radio key={one} value={one} label={t(`approve.${one}Choice`)} />
          ))}
        </Stack>
      </Radio.Group>
      {reason && <p className={styles.failure}>{reason}</p>}
      {data && <p>{t('bulk.preview', { changed, all: cards.length, refused: refused.length })}</p>}
      <Refusals cards={cards} refused={refused} />
    </BulkDialog>
  );
}
