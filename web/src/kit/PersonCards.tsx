import { Button } from '@mantine/core';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { call, listStakeholderCards } from '#client';
import { Failure } from './Failure.tsx';
import { TypeMark } from './marks.tsx';
import { useTexts } from './messages.tsx';
import { useMetamodel } from './metamodel.tsx';
import styles from './person.module.css';

interface PersonCardsProps {
  /** The person. */
  id: string;
  pageSize: number;
  /** Whether further pages are offered. */
  hasMore?: boolean;
}

/** The cards that a person answers for, by role. */
export function PersonCards({ id, pageSize, hasMore = true }: PersonCardsProps) {
  const t = useTexts();
  const { label } = useMetamodel();
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: ['cards', 'of', id, pageSize],
      queryFn: ({ signal, pageParam: cursor }) =>
        call(
          listStakeholderCards({
            signal,
            query: { user_id: id, cursor, page_size: pageSize, sort_by: 'name', fields: 'id,type,name' },
          }),
        ),
      initialPageParam: '',
      getNextPageParam: ({ next_cursor }) => next_cursor ?? undefined,
    });
  if (error) return <Failure error={error} onRetry={refetch} />;
  const held = (data?.pages ?? []).flatMap(({ items, roles_by_card_id }) =>
    items.flatMap((card) => (roles_by_card_id[card.id!] ?? []).map((role) => ({ card, role }))),
  );
  const byRole = Map.groupBy(held, ({ role }) => label(role));
  return (
    <div className={styles.roles} aria-busy={isPending}>
      {data && held.length === 0 && <p className="secondary">{t('person.noCards')}</p>}
      {[...byRole].map(([role, own]) => (
        <section key={role} aria-label={role}>
          <h3 className={styles.role}>{role}</h3>
          <ul className={styles.list}>
            {own.map(({ card: { id: card, type, name } }) => (
              <li key={card}>
                <Link to="/cards/$id" params={{ id: card! }} className={styles.link}>
                  <TypeMark type={type!} size={18} />
                  <span>{name}</span>
                </Link>
              </li>
            ))}
          </ul>
        </section>
      ))}
      {hasMore && hasNextPage && (
        <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t('card.loadMore')}
        </Button>
      )}
    </div>
  );
}
