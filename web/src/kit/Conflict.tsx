import { Button, Group, Radio } from '@mantine/core';
import { type ReactNode, useCallback, useState } from 'react';
import styles from './conflict.module.css';
import { Dialog } from './Dialog.tsx';
import { useTexts } from './messages.tsx';
import { usePaths } from './paths.tsx';
import type { AskAboutClashes, Clash } from './saveCard.ts';

interface Question {
  clashes: readonly Clash[];
  answer(kept: ReadonlySet<string> | undefined): void;
}

/**
 * Lets the person decide about fields that somebody else has changed meanwhile.
 * @returns what {@link saveCard} asks, and the dialog, which the component renders.
 */
export function useConflict(typeKey: string): { ask: AskAboutClashes; dialog: ReactNode } {
  const [question, setQuestion] = useState<Question>();
  const ask = useCallback<AskAboutClashes>(
    (clashes) =>
      new Promise((resolve) => {
        setQuestion({
          clashes,
          answer: (kept) => {
            setQuestion(undefined);
            resolve(kept);
          },
        });
      }),
    [],
  );
  return { ask, dialog: question && <Conflict typeKey={typeKey} {...question} /> };
}

/** The fields that clash: what was there, what the other person wrote, and what is about to be saved. */
function Conflict({ typeKey, clashes, answer }: Question & { typeKey: string }) {
  const t = useTexts();
  const { labelOf, shownValue } = usePaths(typeKey);
  const [kept, setKept] = useState<ReadonlySet<string>>(() => new Set(clashes.map(({ path }) => path)));
  const choose = (path: string, isMine: boolean) => {
    const next = new Set(kept);
    if (isMine) next.add(path);
    else next.delete(path);
    setKept(next);
  };
  return (
    <Dialog onClose={() => answer(undefined)} title={t('conflict.title')} size="lg">
      <p className={styles.help}>{t('conflict.help')}</p>
      <table className={styles.table}>
        <thead>
          <tr>
            <th scope="col">{t('conflict.field')}</th>
            <th scope="col">{t('conflict.was')}</th>
            <th scope="col">{t('conflict.theirs')}</th>
            <th scope="col">{t('conflict.mine')}</th>
          </tr>
        </thead>
        <tbody>
          {clashes.map(({ path, was, theirs, mine }) => {
            const option = (isMine: boolean, value: unknown) => (
              <Radio
                name={path}
                size="xs"
                checked={kept.has(path) === isMine}
                onChange={() => choose(path, isMine)}
                label={shownValue(path, value)}
                aria-label={`${labelOf(path)}: ${t(isMine ? 'conflict.mine' : 'conflict.theirs')}`}
              />
            );
            return (
              <tr key={path}>
                <th scope="row">{labelOf(path)}</th>
                <td>
                  <s>{shownValue(path, was)}</s>
                </td>
                <td>{option(false, theirs)}</td>
                <td>{option(true, mine)}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" onClick={() => answer(undefined)}>
          {t('action.cancel')}
        </Button>
        <Button onClick={() => answer(kept)}>{t('conflict.save')}</Button>
      </Group>
    </Dialog>
  );
}
