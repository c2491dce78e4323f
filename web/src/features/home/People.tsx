import { Button, SegmentedControl, TextInput } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { call, listUsers } from '#client';
import { Failure } from '../../kit/Failure.tsx';
import { Icon } from '../../kit/Icon.tsx';
import { Avatar } from '../../kit/marks.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { PersonHead } from '../../kit/PersonCard.tsx';
import { PersonCards } from '../../kit/PersonCards.tsx';
import { personQuery } from '../../kit/people.ts';
import { isAllowed, useMe } from '../../shell/queries.ts';
import styles from './people.module.css';
import { RoleDirectory } from './RoleDirectory.tsx';

const InviteDialog = lazy(async () => ({
  default: (await import('../../kit/InviteDialog.tsx')).InviteDialog,
}));

const PAGE = 50;
const CARDS = 30;

/** Who is who: people by name or by role, and the cards that one of them answers for. */
export function People() {
  const t = useTexts();
  const { person, by } = useSearch({ from: '/app/' });
  const navigate = useNavigate({ from: '/' });
  const { permissions } = useMe();
  const [text, setText] = useState('');
  const mayList = isAllowed(permissions, 'admin.users');
  const mayInvite = mayList || isAllowed(permissions, 'users.invite');
  const [isInviting, setInviting] = useState(false);
  const isByRole = mayList && by === 'role';
  return (
    <div className={styles.people} data-chosen={person !== undefined}>
      <div className={styles.list}>
        <div className={styles.controls}>
          <TextInput
            className={styles.search!}
            aria-label={t('people.search')}
            placeholder={t('people.search')}
            leftSection={<Icon name="search" />}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
          {mayInvite && (
            <Button
              variant="default"
              leftSection={<Icon name="person_add" />}
              onClick={() => setInviting(true)}
            >
              {t('people.invite')}
            </Button>
          )}
          {mayList && (
            <SegmentedControl
              size="xs"
              aria-label={t('people.by')}
              value={isByRole ? 'role' : 'name'}
              data={[
                { value: 'name', label: t('people.byName') },
                { value: 'role', label: t('people.byRole') },
              ]}
              onChange={(value) =>
                void navigate({
                  search: (before) => ({ ...before, by: value === 'role' ? ('role' as const) : undefined }),
                  replace: true,
                })
              }
            />
          )}
        </div>
        {isByRole ? (
          <RoleDirectory text={text.trim()} person={person} />
        ) : (
          <ByName text={text.trim()} person={person} />
        )}
      </div>
      {isInviting && (
        <Suspense>
          <InviteDialog
            searched={text.trim()}
            onInvited={({ id }) => {
              setInviting(false);
              void navigate({ search: (before) => ({ ...before, person: id }), replace: true });
            }}
            onClose={() => setInviting(false)}
          />
        </Suspense>
      )}
      <div className={styles.detail}>
        {person ? <Chosen key={person} id={person} /> : <p className="secondary">{t('people.choose')}</p>}
      </div>
    </div>
  );
}

interface ByNameProps {
  /** What is searched for. */
  text: string;
  person: string | undefined;
}

function ByName({ text, person }: ByNameProps) {
  const t = useTexts();
  const [search] = useDebouncedValue(text, 200);
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage, refetch } =
    useInfiniteQuery({
      queryKey: ['users', 'directory', search],
      queryFn: ({ signal, pageParam: page }) =>
        call(
          listUsers({
            signal,
            query: {
              ...{ page, page_size: PAGE, kind: 'person', sort_by: 'display_name' },
              ...(search && { search }),
            },
          }),
        ),
      initialPageParam: 1,
      getNextPageParam: (last, pages) => (last.items.length < PAGE ? undefined : pages.length + 1),
      placeholderData: keepPreviousData,
    });
  const people = (data?.pages ?? []).flatMap(({ items }) => items);
  if (error) return <Failure error={error} onRetry={refetch} />;
  return (
    <div className={styles.panel} aria-busy={isPending}>
      {data && people.length === 0 && <p className={styles.none}>{t('picker.none')}</p>}
      {people.map(({ id, display_name, email }) => (
        <Link
          key={id}
          to="/"
          search={(before) => ({ ...before, tab: 'people' as const, person: id! })}
          className={styles.person}
          aria-current={id === person}
          replace
        >
          <Avatar name={display_name!} size={28} />
          <span className={styles.who}>
            <span>{display_name}</span>
            <span className="secondary">{email}</span>
          </span>
        </Link>
      ))}
      {hasNextPage && (
        <Button variant="subtle" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          {t('card.loadMore')}
        </Button>
      )}
    </div>
  );
}

/** A person, and the cards that they answer for. */
function Chosen({ id }: { id: string }) {
  const t = useTexts();
  const { permissions } = useMe();
  const { data, error, refetch } = useQuery(personQuery(id));
  if (error) return <Failure error={error} onRetry={refetch} />;
  return (
    <div className={styles.panel} aria-busy={!data}>
      <Link
        to="/"
        search={(before) => ({ ...before, tab: 'people' as const, person: undefined })}
        className={styles.back}
        replace
      >
        <Icon name="arrow_back" /> {t('people.all')}
      </Link>
      <PersonHead id={id} name={data?.display_name ?? '…'} />
      {isAllowed(permissions, 'stakeholders.view') && (
        <div className={styles.cards}>
          <PersonCards id={id} pageSize={CARDS} />
        </div>
      )}
    </div>
  );
}
