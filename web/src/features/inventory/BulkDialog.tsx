import { Button, Group, Stack } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Dialog } from '../../kit/Dialog.tsx';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { useReason } from '../../kit/reasons.ts';
import { useUndoToast } from '../../kit/undo.tsx';
import styles from './inventory.module.css';

/** What an action on the selected cards needs. */
export interface BulkProps {
  cards: readonly { id: string; name: string; type: string }[];
  onClose(): void;
  /** After the action was done. */
  onDone(): void;
}

interface BulkDialogProps {
  title: string;
  /** The text of the button that does it. */
  submit: string;
  isReady: boolean;
  isDangerous?: boolean;
  size?: 'md' | 'lg' | 'xl';
  /** @returns what the toast says, and the batch that takes it back. */
  run(): Promise<{ text: string; headers: Headers }>;
  onClose(): void;
  onDone(): void;
  children: ReactNode;
}

/** A dialog that shows what an action would do, and does it. */
export function BulkDialog(props: BulkDialogProps) {
  const t = useTexts();
  const client = useQueryClient();
  const showUndo = useUndoToast();
  const form = useSubmit(props.run, ({ text, headers }) => {
    for (const key of ['cards', 'card', 'facets']) void client.invalidateQueries({ queryKey: [key] });
    showUndo(text, headers.get('x-mutation-batch'));
    props.onDone();
  });
  return (
    <Dialog onClose={props.onClose} size={props.size} title={props.title}>
      <form onSubmit={form.submit}>
        <Stack gap="md">
          {props.children}
          {form.reason && <p className={styles.failure}>{form.reason}</p>}
          <Group justify="flex-end">
            <Button variant="default" onClick={props.onClose}>
              {t('action.cancel')}
            </Button>
            <Button
              type="submit"
              color={props.isDangerous ? 'red' : undefined}
              disabled={!props.isReady}
              loading={form.isBusy}
            >
              {props.submit}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

/** The answer of a dry run; asked again whenever what it depends on changes. */
export function usePreview<T>(key: readonly unknown[], run: (() => Promise<T>) | undefined) {
  const { data, error, isFetching } = useQuery({
    queryKey: ['preview', ...key],
    queryFn: () => run!(),
    enabled: run !== undefined,
    gcTime: 0,
    staleTime: 0,
    retry: false,
  });
  const reasonOf = useReason();
  return { data, reason: error ? reasonOf(error) : undefined, isFetching };
}

/** The results of a dry run in words, with the reasons of refused cards. */
export function Refusals({
  cards,
  refused,
}: {
  cards: BulkProps['cards'];
  refused: { id: string; reason: string }[];
}) {
  const names = new Map(cards.map(({ id, name }) => [id, name]));
  if (refused.length === 0) return null;
  return (
    <ul className={styles.refusals}>
      {refused.slice(0, REFUSALS).map(({ id, reason }) => (
        <li key={id}>
          <strong>{names.get(id) ?? id}</strong> <span className="secondary">{reason}</span>
        </li>
      ))}
      {refused.length > REFUSALS && <li className="secondary">+{refused.length - REFUSALS}</li>}
    </ul>
  );
}

const REFUSALS = 8;
