import { useQuery } from '@tanstack/react-query';
import { Failure } from '../../kit/Failure.tsx';
import { useIsDrawn } from '../../kit/Later.tsx';
import { useTexts } from '../../kit/messages.tsx';
import { useMe } from '../../shell/queries.ts';
import { CardList } from './CardList.tsx';
import { EventList, type ShownActivity } from './EventList.tsx';
import { Figures, Types, useDashboard } from './Figures.tsx';
import { FirstSteps } from './FirstSteps.tsx';
import styles from './home.module.css';
import { homeQuery, LENGTH } from './home.queries.ts';
import { Shares } from './Shares.tsx';
import { countWaiting, Waiting } from './Waiting.tsx';

/** What waits for the person, what changed, and the key figures of the workspace. */
export function Overview() {
  const t = useTexts();
  const me = useMe();
  const waiting = useQuery(homeQuery);
  const home = waiting.data;
  const figures = useDashboard();
  const dashboard = figures.data;
  // the key figures are shown before the lists
  const isDrawn = useIsDrawn();
  const hour = new Date().getHours();
  const greeting = hour < 12 ? 'home.morning' : hour < 18 ? 'home.day' : 'home.evening';
  const followed = (home?.changes?.items ?? []) as ShownActivity[];
  const lately = (dashboard?.recent_events ?? []) as ShownActivity[];
  return (
    <>
      <p className={styles.greeting}>{t(greeting, { name: me.display_name.split(' ')[0] })}</p>
      <p className={styles.summary}>{home ? t('home.waiting', { count: countWaiting(home) }) : '\u00a0'}</p>
      {waiting.error && <Failure error={waiting.error} onRetry={waiting.refetch} />}
      {figures.error && <Failure error={figures.error} onRetry={figures.refetch} />}
      {dashboard?.total_cards === 0 ? (
        <FirstSteps />
      ) : (
        <>
          <Figures />
          {isDrawn && (
            <div className={styles.columns}>
              <div className={styles.column}>
                {home && <Waiting home={home} />}
                <Shares />
                {followed.length > 0 && (
                  <EventList title={t('home.followed')} events={followed} length={LENGTH} />
                )}
                <EventList
                  title={t('home.changed')}
                  events={lately}
                  length={LENGTH}
                  empty={dashboard && t('home.nothingChanged')}
                />
              </div>
              <div className={styles.column}>
                <CardList title={t('home.favorites')} cards={home?.favorites?.items} />
                <CardList title={t('home.recent')} cards={home?.recent?.items} />
                <Types />
              </div>
            </div>
          )}
        </>
      )}
    </>
  );
}
