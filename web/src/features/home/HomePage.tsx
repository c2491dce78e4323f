import { ActionIcon, Tooltip } from '@mantine/core';
import { Link, useSearch } from '@tanstack/react-router';
import { lazy, Suspense } from 'react';
import { Icon } from '../../kit/Icon.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { Page } from '../../kit/Page.tsx';
import { useSetting } from '../../kit/setting.ts';
import { isAllowed, useMe } from '../../shell/queries.ts';
import { RoutePending } from '../../shell/RouteStates.tsx';
import styles from './home.module.css';
import { type HomeTab, homeTabs } from './home.search.ts';
import { Overview } from './Overview.tsx';

const MyCards = lazy(async () => ({ default: (await import('./MyCards.tsx')).MyCards }));
const People = lazy(async () => ({ default: (await import('./People.tsx')).People }));
const Administration = lazy(async () => ({
  default: (await import('./Administration.tsx')).Administration,
}));

const contents: Record<HomeTab, React.ComponentType> = {
  overview: Overview,
  mine: MyCards,
  people: People,
  admin: Administration,
};

/** The start page: the landscape today, the person's own cards, people, and for administrators what needs them. */
export function HomePage() {
  const t = useTexts();
  const { permissions } = useMe();
  const search = useSearch({ from: '/app/' });
  const [first, setFirst] = useSetting<HomeTab>('home.tab');
  const shown = homeTabs.filter((tab) => tab !== 'admin' || isAllowed(permissions, 'admin.users'));
  const begin = shown.find((tab) => tab === first) ?? 'overview';
  const current = shown.find((tab) => tab === search.tab) ?? begin;
  const Content = contents[current];
  return (
    <Page title={<h1>{t('nav.home')}</h1>}>
      <nav className={styles.tabs} aria-label={t('home.tabs')}>
        {shown.map((tab) => (
          <Link
            key={tab}
            to="/"
            search={{ tab }}
            className={styles.tab}
            aria-current={tab === current ? 'page' : undefined}
          >
            {t(`home.tab.${tab}`)}
          </Link>
        ))}
        {current !== begin && (
          <Tooltip label={t('home.begin')}>
            <ActionIcon
              className={styles.begin}
              aria-label={t('home.begin')}
              onClick={() => setFirst(current)}
            >
              <Icon name="keep" />
            </ActionIcon>
          </Tooltip>
        )}
      </nav>
      <div className={styles.page}>
        <Suspense fallback={<RoutePending />}>
          <Content />
        </Suspense>
      </div>
    </Page>
  );
}
