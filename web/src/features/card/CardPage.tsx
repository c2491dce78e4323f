import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import type { CardOverview } from '#client';
import { useTexts } from '../../kit/messages.tsx';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { Page } from '../../kit/Page.tsx';
import { RoutePending } from '../../shell/RouteStates.tsx';
import { Banners } from './Banners.tsx';
import { CardActions } from './CardActions.tsx';
import { CardHeader } from './CardHeader.tsx';
import { CardTabs } from './CardTabs.tsx';
import styles from './card.module.css';
import { CardProvider, useCard } from './context.tsx';
import { pastQuery } from './past.ts';
import { overviewQuery } from './queries.ts';

/** The page of one card. */
export function CardPage() {
  const { id } = useParams({ from: '/app/cards/$id' });
  return (
    <Suspense fallback={<RoutePending />}>
      <LoadedCard key={id} id={id} />
    </Suspense>
  );
}

function LoadedCard({ id }: { id: string }) {
  const { asOf } = useSearch({ from: '/app/cards/$id' });
  const { data } = useSuspenseQuery(overviewQuery(id));
  return asOf ? <PastCard now={data} day={asOf} /> : <ShownCard overview={data} />;
}

/** The card as it was; as it is now, if it is younger. */
function PastCard({ now, day }: { now: CardOverview; day: string }) {
  const t = useTexts();
  const { data } = useSuspenseQuery(pastQuery(now.card.id, now, day));
  if (data) return <ShownCard overview={data} asOf={day} />;
  return (
    <Page title={<h1>{now.card.name}</h1>}>
      <div className={styles.main}>
        <p>{t('card.younger')}</p>
        <Link to="." search={{}} className={styles.textLink}>
          {t('card.backToToday')}
        </Link>
      </div>
    </Page>
  );
}

function ShownCard({ overview: data, asOf }: { overview: CardOverview; asOf?: string }) {
  return (
    <CardProvider overview={data} asOf={asOf}>
      <Page title={<Place />} actions={<CardActions />}>
        <Banners />
        <div className={styles.top}>
          <CardHeader />
        </div>
        <CardTabs />
      </Page>
    </CardProvider>
  );
}

/** Where the card is: its type, and the cards above it. */
function Place() {
  const { card, overview } = useCard();
  const { plural } = useMetamodel();
  return (
    <>
      <Link to="/inventory" search={{ type: card.type }} className="secondary">
        {plural(card.type)}
      </Link>
      {overview.hierarchy?.ancestors.map((one) => (
        <span key={one.id} className={styles.ancestor}>
          /{' '}
          <Link to="/cards/$id" params={{ id: one.id }}>
            {one.name}
          </Link>
        </span>
      ))}
      <span className="muted">/</span>
      <span className={styles.place}>{card.name}</span>
    </>
  );
}
