import { Button, SegmentedControl } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { Failure } from '../../kit/Failure.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { Page } from '../../kit/Page.tsx';
import { NoticeList } from './NoticeList.tsx';
import styles from './notifications.module.css';
import { type Notice, noticesQuery, useMarkRead } from './notifications.queries.ts';

/** All notifications of the person, newest first. */
export function NotificationsPage() {
  const t = useTexts();
  const { unread = false } = useSearch({ from: '/app/notifications' });
  const navigate = useNavigate({ from: '/notifications' });
  const markRead = useMarkRead();
  const query = useInfiniteQuery(noticesQuery(unread));
  const notices = (query.data?.pages ?? []).flatMap(({ items }) => items as Notice[]);
  return (
    <Page
      title={<h1>{t('bell.title')}</h1>}
      actions={
        <Button
          variant="default"
          leftSection={<Icon name="check" />}
          loading={markRead.isPending}
          disabled={!notices.some(({ is_read }) => !is_read)}
          onClick={() => markRead.mutate(undefined)}
        >
          {t('bell.readAll')}
        </Button>
      }
    >
      <div className={styles.page} aria-busy={query.isPending}>
        <div className={styles.bar}>
          <SegmentedControl
            size="xs"
            aria-label={t('bell.shown')}
            value={unread ? 'unread' : 'all'}
            data={[
              { value: 'all', label: t('bell.everything') },
              { value: 'unread', label: t('bell.unread') },
            ]}
            onChange={(value) =>
              void navigate({ search: value === 'unread' ? { unread: true } : {}, replace: true })
            }
          />
          <Link to="/me" search={{ tab: 'notifications' }} className={styles.settings}>
            {t('bell.settings')}
          </Link>
        </div>
        {query.error && <Failure error={query.error} onRetry={query.refetch} />}
        {query.data && notices.length === 0 && (
          <p className={styles.none}>{t(unread ? 'bell.noneUnread' : 'bell.none')}</p>
        )}
        {notices.length > 0 && (
          <div className={styles.box}>
            <NoticeList notices={notices} />
          </div>
        )}
        {query.hasNextPage && (
          <Button
            variant="default"
            loading={query.isFetchingNextPage}
            onClick={() => void query.fetchNextPage()}
          >
            {t('card.loadMore')}
          </Button>
        )}
      </div>
    </Page>
  );
}
