import { useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useMe } from '../../shell/queries.ts';
import type { Tab } from './card.search.ts';
import { type CardEvent, historyQuery, isTelling } from './queries.ts';

const KEY = 'estate.visits';
/** Cards whose last visit is remembered. */
const MOST = 300;

type Visits = [card: string, at: string][];

function read(): Visits {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return Array.isArray(stored) ? stored : [];
  } catch {
    return [];
  }
}

/** The kinds of events that each tab shows. */
const kinds = new Map<Tab | undefined, readonly string[]>([
  [undefined, ['card', 'relation', 'data_flow', 'tag', 'cost', 'relation_cost']],
  ['comments', ['comment']],
  ['todos', ['todo']],
  ['people', ['stakeholder']],
  ['resources', ['document', 'file']],
  ['used', ['risk', 'adr_card', 'diagram', 'compliance_finding', 'process_flow']],
]);

/** Tabs of a card in which others have changed something since this browser showed the card last. */
export function useNewTabs(card: string): (tab: Tab | undefined) => boolean {
  const { id: me } = useMe();
  const { data } = useInfiniteQuery(historyQuery(card));
  const [before] = useState(() => new Map(read()).get(card));
  useEffect(() => {
    const others = read().filter(([id]) => id !== card);
    localStorage.setItem(KEY, JSON.stringify([[card, new Date().toISOString()], ...others].slice(0, MOST)));
  }, [card]);
  const events = (data?.pages ?? []).flatMap(({ items }) => items as CardEvent[]);
  const changed = new Set(
    events
      .filter(
        (event) =>
          before !== undefined && event.created_at > before && event.user_id !== me && isTelling(event),
      )
      .map(({ event_type }) => event_type.split('.')[0]!),
  );
  return (tab) => kinds.get(tab)?.some((kind) => changed.has(kind)) ?? false;
}
