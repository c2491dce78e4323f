import { Checkbox, Radio, Stack } from '@mantine/core';
import { useState } from 'react';
import { answer, archiveCards, call, deleteCards, restoreCards } from '#client';
import { useTexts } from '../../kit/messages.tsx';
import { BulkDialog, type BulkProps, usePreview } from './BulkDialog.tsx';
import styles from './inventory.module.css';

const strategies = ['cascade', 'reparent', 'disconnect'] as const;

interface RemoveDialogProps extends BulkProps {
  action: 'archive' | 'delete';
}

/** Archives or deletes the selected cards, and says what happens to cards below them. */
export function RemoveDialog({ action, cards, onClose, onDone }: RemoveDialogProps) {
  const t = useTexts();
  const [strategy, setStrategy] = useState<(typeof strategies)[number]>('cascade');
  const [withRelated, setWithRelated] = useState(false);
  const bodyOf = (child_strategy: typeof strategy, isDry: boolean) => ({
    card_ids: cards.map(({ id }) => id),
    child_strategy,
    ...(withRelated && { cascade_all_related: true }),
    dry_run: isDry,
  });
  const send = async (child_strategy: typeof strategy, isDry: boolean) => {
    const body = bodyOf(child_strategy, isDry);
    return await (action === 'archive' ? answer(archiveCards({ body })) : answer(deleteCards({ body })));
  };
  const preview = usePreview([action, cards.map(({ id }) => id), withRelated], () => send('cascade', true));
  const below = preview.data?.data.cascaded_card_ids.length ?? 0;
  const count = cards.length;
  return (
    <BulkDialog
      title={t(`${action}.title`, { count })}
      submit={t(`${action}.submit`, { count: count + (strategy === 'cascade' || withRelated ? below : 0) })}
      isReady={preview.data !== undefined}
      isDangerous
      run={async () => {
        const { headers } = await send(strategy, false);
        return { text: t(`${action}.done`, { count }), headers };
      }}
      onClose={onClose}
      onDone={onDone}
    >
      <Names cards={cards} />
      {preview.reason && <p className={styles.failure}>{preview.reason}</p>}
      {below > 0 && !withRelated && (
        <Radio.Group
          label={t('remove.below', { count: below })}
          value={strategy}
          onChange={(value: string) => setStrategy(value as typeof strategy)}
        >
          <Stack gap={6} mt={6}>
            {strategies.map((one) => (
              <Radio key={one} value={one} label={t(`remove.${one}`)} />
            ))}
          </Stack>
        </Radio.Group>
      )}
      <Checkbox
        label={t('remove.related')}
        checked={withRelated}
        onChange={(event) => setWithRelated(event.target.checked)}
      />
      {withRelated && below > 0 && (
        <p className={styles.warning}>{t('remove.relatedCount', { count: below })}</p>
      )}
    </BulkDialog>
  );
}

/** Makes archived cards active again. */
export function RestoreDialog({ cards, onClose, onDone }: BulkProps) {
  const t = useTexts();
  const body = { card_ids: cards.map(({ id }) => id) };
  const preview = usePreview(['restore', body], () =>
    call(restoreCards({ body: { ...body, dry_run: true } })),
  );
  const count = preview.data?.restored_card_ids.length ?? cards.length;
  return (
    <BulkDialog
      title={t('restore.title', { count: cards.length })}
      submit={t('restore.submit', { count })}
      isReady={preview.data !== undefined && count > 0}
      run={async () => {
        const { headers } = await answer(restoreCards({ body }));
        return { text: t('restore.done', { count }), headers };
      }}
      onClose={onClose}
      onDone={onDone}
    >
      <Names cards={cards} />
      {preview.reason && <p className={styles.failure}>{preview.reason}</p>}
    </BulkDialog>
  );
}

const NAMED = 5;

/** Which cards are concerned. */
function Names({ cards }: Pick<BulkProps, 'cards'>) {
  const t = useTexts();
  const names = cards.slice(0, NAMED).map(({ name }) => name);
  const others = cards.length - names.length;
  return (
    <p className={styles.names}>
      {names.join(', ')}
      {others > 0 && ` ${t('bulk.more', { count: others })}`}
    </p>
  );
}
