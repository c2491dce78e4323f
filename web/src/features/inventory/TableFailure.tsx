import { Button } from '@mantine/core';
import { useEffect } from 'react';
import { ApiError } from '#client';
import { useTexts } from '../../kit/messages.tsx';
import styles from './inventory.module.css';

interface TableFailureProps {
  error: Error;
  /** The service refuses the filter. */
  onRefused(): void;
  onClear(): void;
}

/** What stands instead of rows if the service refuses the filter. @throws any other error, for the whole page. */
export function TableFailure({ error, onRefused, onClear }: TableFailureProps) {
  const t = useTexts();
  if (!(error instanceof ApiError) || error.errors[0]?.field !== 'filter') throw error;
  // biome-ignore lint/correctness/useExhaustiveDependencies: told once for each error
  useEffect(onRefused, [error]);
  return (
    <div className={styles.nothing}>
      <h2>{t('nothing.refused')}</h2>
      <p>{t('nothing.refusedHelp')}</p>
      <Button onClick={onClear}>{t('nothing.clearFilter')}</Button>
    </div>
  );
}
