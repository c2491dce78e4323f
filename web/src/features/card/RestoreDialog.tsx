import { Button, Checkbox, Group, Stack } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { answer, call, readCardRestoreImpact, restoreCard } from '#client';
import { Dialog } from '../../kit/Dialog.tsx';
import { useSubmit } from '../../kit/forms.ts';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import styles from './card.module.css';
import { useCard } from './context.tsx';

/** Restores the card, with those that were archived along. */
export function RestoreDialog({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const { card, act } = useCard();
  const { data: impact } = useQuery({
    queryKey: ['card', card.id, 'restore'],
    queryFn: ({ signal }) => call(readCardRestoreImpact({ signal, path: { id: card.id } })),
    staleTime: 0,
  });
  // all of them until the person chooses
  const [chosen, setChosen] = useState<string[]>();
  const passengers = impact?.passengers ?? [];
  const also = chosen ?? passengers.map(({ id }) => id);
  const count = 1 + also.length;
  const submit = useSubmit(
    () =>
      act(t('card.restoreDone', { count }), async () => {
        const body = { also_restore_card_ids: also };
        return (await answer(restoreCard({ path: { id: card.id }, body }))).headers;
      }),
    () => onClose(),
  );
  return (
    <Dialog onClose={onClose} title={t('card.restoreTitle', { name: card.name })}>
      <form onSubmit={submit.submit}>
        <Stack gap="md">
          {passengers.length > 0 && (
            <Checkbox.Group label={t('card.archivedAlong')} value={also} onChange={setChosen}>
              <div className={styles.choices}>
                {passengers.map(({ id, name, type }) => (
                  <Checkbox
                    key={id}
                    value={id}
                    label={
                      <span className={styles.choice}>
                        <TypeMark type={type} size={18} /> {name}
                      </span>
                    }
                  />
                ))}
              </div>
            </Checkbox.Group>
          )}
          {submit.reason && (
            <p className={styles.failure} role="alert">
              {submit.reason}
            </p>
          )}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {t('action.cancel')}
            </Button>
            <Button type="submit" loading={submit.isBusy} disabled={!impact}>
              {t('card.restoreCards', { count })}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
