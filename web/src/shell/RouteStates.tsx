import { Button, Loader } from '@mantine/core';
import { type ErrorComponentProps, Link } from '@tanstack/react-router';
import { ApiError } from '#client';
import { useTexts } from '../kit/messages.tsx';
import styles from './states.module.css';

/** What is shown instead of a page that failed. */
export function RouteError({ error, reset }: ErrorComponentProps) {
  const t = useTexts();
  const known = error instanceof ApiError ? error : undefined;
  return (
    <div className={styles.state} role="alert">
      <h1>{t(known?.status === 404 ? 'state.missing' : 'state.failed')}</h1>
      <p>{error instanceof Error ? error.message : String(error)}</p>
      {known?.requestId && <p className="secondary">{t('error.request', { id: known.requestId })}</p>}
      <Button onClick={reset}>{t('action.tryAgain')}</Button>
    </div>
  );
}

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
      <Loader size="sm" role="status" aria-label={t('state.loading')} />
    </div>
  );
}
