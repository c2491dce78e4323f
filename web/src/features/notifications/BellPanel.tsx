import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Failure } from '../../kit/Failure.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { NoticeList } from './NoticeList.tsx';
import styles from './notifications.module.css';
import { type Notice, noticesQuery, useMarkRead } from './notifications.queries.ts';

/** Notifications that the panel shows; the page has all. */
const SHOWN = 8;

/** The newest notifications, below the bell. */
export function BellPanel({ onClose }: { onClose(): void }) {
  const t = useTexts();
  const { data, error, isPending, refetch } = useInfiniteQuery(noticesQuery(false));
  const markRead = useMarkRead();
  const notices = (data?.pages[0]?.items ?? []) as Notice[];
  return (
    <div className={styles.panel} aria-busy={isPending}>
      <header className={styles.head}>
        <h2>{t('bell.title')}</h2>
        {notices.some(({ is_read }) => !is_read) && (
          <Button
            variant="subtle"
            size="compact-xs"
            loading={markRead.isPending}
            onClick={() => markRead.mutate(undefined)}
          >
            {t('bell.readAll')}
          </Button>
        )}
      </header>
      {error && <Failure error={error} onRetry={refetch} />}
      {data && notices.length === 0 && <p className={styles.none}>{t('bell.none')}</p>}
      <NoticeList notices={notices.slice(0, SHOWN)} onChosen={onClose} />
      <footer className={styles.foot}>
        <Link to="/notifications" onClick={onClose}>
          {t('bell.all')}
        </Link>
        <Link to="/me" search={{ tab: 'notifications' }} onClick={onClose}>
          {t('bell.settings')}
        </Link>
      </footer>
    </div>
  );
}
