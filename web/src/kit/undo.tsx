import { Button, Group } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { notifications } from '@mantine/notifications';
import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
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
        message: batch === null ? done : <Offer done={done} text={t('action.undo')} onUndo={undo} />,
      });
    },
    [t, client],
  );
}

/** The offers that are shown, the newest last: Ctrl-Z takes that one. */
const offers: symbol[] = [];

function Offer({ done, text, onUndo }: { done: string; text: string; onUndo(): void }) {
  const [self] = useState(() => Symbol('offer'));
  useEffect(() => {
    offers.push(self);
    return () => {
      offers.splice(offers.indexOf(self), 1);
    };
  }, [self]);
  const undoLast = (event: KeyboardEvent) => {
    // one key takes back one action: when its offer goes, the one before becomes the last
    if (event.defaultPrevented || offers.at(-1) !== self) return;
    event.preventDefault();
    onUndo();
  };
  useHotkeys([['mod+Z', undoLast, { preventDefault: false }]]);
  return (
    <Group justify="space-between" gap="sm" wrap="nowrap">
      {done}
      <Button size="compact-xs" variant="default" onClick={onUndo} aria-keyshortcuts="Control+Z">
        {text}
      </Button>
    </Group>
  );
}
