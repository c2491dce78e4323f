import { useSuspenseQuery } from '@tanstack/react-query';
import { Link, useParams, useSearch } from '@tanstack/react-router';
import { Suspense } from 'react';
import { useMetamodel } from '../../kit/metamodel.tsx';
import { Page } from '../../kit/Page.tsx';
import { RoutePending } from '../../shell/RouteStates.tsx';
import { Banners } from './Banners.tsx';
import { CardActions } from './CardActions.tsx';
import { CardHeader } from './CardHeader.tsx';
import { CardTabs } from './CardTabs.tsx';
import styles from './card.module.css';
import { CardProvider, useCard } from './context.tsx';
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
  const { type: typeOf, label } = useMetamodel();
  const type = typeOf(card.type);
  return (
    <>
      <Link to="/inventory" search={{ type: card.type }} className="secondary">
        {type ? label(type) : card.type}
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
