import { Button, Group } from '@mantine/core';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback } from 'react';
import { call, rollBackMutationBatch } from '#client';
import { useTexts } from './messages.tsx';

/** How long the offer stands, in milliseconds. */
const OFFER_MS = 10_000;

/** Shows what was done, with a button that takes it back. */
export function useUndoToast() {
  const t = useTexts();
  const client = useQueryClient();
  return useCallback(
    (done: string, batch: string | null) => {
      const id = `undo-${batch}`;
      const undo = async () => {
        notifications.hide(id);
        try {
          await call(rollBackMutationBatch({ path: { id: batch! }, body: { dry_run: false } }));
          await client.invalidateQueries();
        } catch (error) {
          notifications.show({ color: 'red', message: (error as Error).message });
        }
      };
      notifications.show({
        id,
        autoClose: OFFER_MS,
        withCloseButton: batch === null,
        message: (
          <Group justify="space-between" gap="sm" wrap="nowrap">
            {done}
            {batch !== null && (
              <Button size="compact-xs" variant="default" onClick={undo}>
                {t('action.undo')}
              </Button>
            )}
          </Group>
        ),
      });
    },
    [t, client],
  );
}
