import { Button } from '@mantine/core';
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, listMyCreatedCards } from '#client';
import { Failure } from '../../kit/Failure.tsx';
import { TypeMark } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { PersonCards } from '../../kit/PersonCards.tsx';
import { savedReportsQuery } from '../../kit/saved.ts';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { SavedLink } from '../reports/SavedGallery.tsx';
import styles from './home.module.css';

/** Cards that are shown before more are asked for. */
const HELD = 30;
const MADE = 10;

/** What is the person's own: cards that they answer for, cards that they made, and reports that they saved. */
export function MyCards() {
  const t = useTexts();
  const me = useMe();
  return (
    <div className={styles.columns} data-first="true">
      <div className={styles.column}>
        {isAllowed(me.permissions, 'stakeholders.view') && (
          <section>
            <h2>{t('home.held')}</h2>
            <div className={`${styles.panel} ${styles.padded}`}>
              <PersonCards id={me.id} pageSize={HELD} />
            </div>
          </section>
        )}
        <MadeCards />
      </div>
      <div className={styles.column}>
        <SavedReports />
      </div>
    </div>
  );
}

function MadeCards() {
  const t = useTexts();
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: ['cards', 'made'],
      queryFn: ({ signal, pageParam: cursor }) =>
        call(
          listMyCreatedCards({
            signal,
            query: {
              cursor,
              page_size: MADE,
              sort_by: 'created_at',
              sort_dir: 'desc',
              fields: 'id,type,name',
            },
          }),
        ),
      initialPageParam: '',
      getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    });
  const cards = (data?.pages ?? []).flatMap(({ items }) => items);
  return (
    <section>
      <h2>{t('home.made')}</h2>
      <div className={styles.panel} aria-busy={isPending}>
        {error && <Failure error={error} onRetry={refetch} />}
        {data && cards.length === 0 && <p className={styles.none}>{t('home.noneMade')}</p>}
        {cards.map(({ id, type, name }) => (
          <Link key={id} to="/cards/$id" params={{ id: id! }} className={styles.row}>
            <TypeMark type={type!} />
            <span className={styles.name}>{name}</span>
          </Link>
        ))}
        {hasNextPage && (
          <Button
            variant="subtle"
            fullWidth
            loading={isFetchingNextPage}
            onClick={() => void fetchNextPage()}
          >
            {t('card.loadMore')}
          </Button>
        )}
      </div>
    </section>
  );
}

function SavedReports() {
  const t = useTexts();
  const { data, error, refetch } = useQuery(savedReportsQuery('my'));
  return (
    <section>
      <h2>{t('home.saved')}</h2>
      <div className={styles.panel}>
        {error && <Failure error={error} onRetry={refetch} />}
        {data?.length === 0 && (
          <p className={styles.none}>
            {t('home.noneSaved')}{' '}
            <Link to="/reports/$" params={{ _splat: '' }} search={{}} className={styles.link}>
              {t('nav.reports')}
            </Link>
          </p>
        )}
        {data?.map((saved) => (
          <div key={saved.id} className={styles.row}>
            <SavedLink saved={saved}>{saved.name}</SavedLink>
          </div>
        ))}
      </div>
    </section>
  );
}
