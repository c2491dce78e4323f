import { Button, Loader } from '@mantine/core';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { Failure } from '../kit/Failure.tsx';
import { useTexts } from '../kit/messages.tsx';
import styles from './states.module.css';

/** What is shown instead of a page that failed. */
export const RouteError = ({ error, reset }: ErrorComponentProps) => (
  <Failure error={error as Error} onRetry={reset} isPage />
);

export function RouteMissing() {
  const t = useTexts();
  return (
    <div className={styles.state}>
      <h1>{t('state.missing')}</h1>
      <p>{t('state.missingHelp')}</p>
      <Button component={Link} to="/">
        {t('nav.home')}
      </Button>
    </div>
  );
}

export function RoutePending() {
  const t = useTexts();
  return (
    <div className={styles.state} aria-busy="true">
      <p role="status" aria-label={t('state.loading')} className={styles.loading}>
        <Loader size="sm" aria-hidden="true" /> {t('state.loading')}
      </p>
    </div>
  );
}
