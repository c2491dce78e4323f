import { Button } from '@mantine/core';
import { ApiError } from '#client';
import styles from './failure.module.css';
import { useTexts } from './messages.tsx';
import { useReason } from './reasons.ts';

interface FailureProps {
  error: Error;
  onRetry(): unknown;
  /** Whether it stands for a whole page. */
  isPage?: boolean;
}

/** Instead of a page or a part of it that could not be read: why, and again. */
export function Failure({ error, onRetry, isPage = false }: FailureProps) {
  const t = useTexts();
  const reasonOf = useReason();
  const known = error instanceof ApiError ? error : undefined;
  // a part of the pages that could not be loaded is only asked for again by the whole page
  const isPart = !known && /dynamically imported|importing a module|preload/i.test(String(error));
  return (
    <div role="alert" className={styles.failure} data-page={isPage}>
      {isPage && <h1>{t(known?.status === 404 ? 'state.missing' : 'state.failed')}</h1>}
      <p>{isPart ? t('error.offline') : reasonOf(error)}</p>
      {known?.requestId && <p className="secondary">{t('error.request', { id: known.requestId })}</p>}
      <Button
        {...(!isPage && { variant: 'default', size: 'xs' })}
        onClick={() => (isPart ? window.location.reload() : void onRetry())}
      >
        {t('action.tryAgain')}
      </Button>
    </div>
  );
}
