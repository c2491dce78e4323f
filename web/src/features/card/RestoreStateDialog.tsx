import { Button, Checkbox, Group } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '../../kit/Dialog.tsx';
import { useFormat } from '../../kit/format.ts';
import { useSubmit } from '../../kit/forms.ts';
import { useTexts } from '../../kit/messages.tsx';
import { usePaths } from '../../kit/paths.tsx';
import { type CardPatch, valueAt } from '../../kit/saveCard.ts';
import { useCard } from './context.tsx';
import { cardBefore } from './past.ts';
import type { CardEvent } from './queries.ts';
import styles from './tabs.module.css';

interface RestoreStateDialogProps {
  /** The events that are taken back, newest first. */
  events: readonly CardEvent[];
  /** When the first of them happened. */
  at: string;
  /** Whether a person may set the value at a path. */
  isOwn(path: string): boolean;
  onClose(): void;
}

/** Sets the fields of the card as they were before events, after the person has seen which. */
export function RestoreStateDialog({ events, at, isOwn, onClose }: RestoreStateDialogProps) {
  const t = useTexts();
  const format = useFormat();
  const { card, change } = useCard();
  const { labelOf, shownValue } = usePaths(card.type);
  const past = cardBefore(card, events);
  const touched = events.flatMap(({ event_type, data }) =>
    event_type.startsWith('card.') ? Object.keys(data?.changes ?? {}) : [],
  );
  const paths = [...new Set(touched)].filter(
    (path) => isOwn(path) && JSON.stringify(valueAt(card, path)) !== JSON.stringify(valueAt(past, path)),
  );
  const [chosen, setChosen] = useState<string[]>(paths);
  const submit = useSubmit(async () => {
    const patch: Record<string, unknown> = {};
    for (const path of chosen) {
      const [key, ...rest] = path.split('.');
      const value = valueAt(past, path);
      patch[key!] =
        rest.length > 0 ? { ...(patch[key!] as object | undefined), [rest.join('.')]: value } : value;
    }
    await change(t('history.fieldsOf', { count: chosen.length }), patch as CardPatch, card);
  }, onClose);
  return (
    <Dialog title={t('history.restoreTitle', { time: format.time(at) })} size="lg" onClose={onClose}>
      <form onSubmit={submit.submit}>
        {paths.length === 0 && <p>{t('history.same')}</p>}
        <Checkbox.Group value={chosen} onChange={setChosen} aria-label={t('history.fields')}>
          {paths.map((path) => (
            <div key={path} className={styles.restoreLine}>
              <Checkbox value={path} label={labelOf(path)} />
              <s>{shownValue(path, valueAt(card, path))}</s>
              <span>{shownValue(path, valueAt(past, path))}</span>
            </div>
          ))}
        </Checkbox.Group>
        {submit.reason && (
          <p className={styles.failure} role="alert">
            {submit.reason}
          </p>
        )}
        <Group justify="flex-end" gap="xs" mt="md">
          <Button variant="default" onClick={onClose}>
            {t('action.cancel')}
          </Button>
          <Button type="submit" loading={submit.isBusy} disabled={chosen.length === 0}>
            {t('history.restoreFields', { count: chosen.length })}
          </Button>
        </Group>
      </form>
    </Dialog>
  );
}
