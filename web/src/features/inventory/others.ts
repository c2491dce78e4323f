import { useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useState } from 'react';
import { call, type ListCardsResponse, listCards } from '#client';
import { onLiveChange } from '../../shell/live.ts';
import type { listQueryOf } from './rows.ts';

/** How long changes are collected before they are looked at, in milliseconds. */
const COLLECT_MS = 600;
/** Cards that one request asks for. */
const MOST = 200;

type Page = ListCardsResponse;

/** What others change in the rows of a list. */
interface Others {
  /** Cards in the list that others have changed since they were last looked at. */
  changed: ReadonlySet<string>;
  /** Cards that belong into the list and are not in it yet. */
  added: ReadonlySet<string>;
  onSeen(card: string): void;
  /** Reads the list again. */
  show(): void;
}

const none: Pick<Others, 'changed' | 'added'> = { changed: new Set(), added: new Set() };

/** Follows what others change: rows get their values in place, new ones wait until somebody asks for them. */
export function useOthers(query: ReturnType<typeof listQueryOf>, fields: string): Others {
  const client = useQueryClient();
  const [state, setState] = useState(none);
  useEffect(() => {
    setState(none);
    const waiting = new Map<string, boolean>();
    let timer: number | undefined;
    const look = async () => {
      const asked = [...waiting].slice(0, MOST);
      waiting.clear();
      const pages = client.getQueriesData<Page>({ queryKey: ['cards', 'list'] });
      const listed = new Set(pages.flatMap(([, page]) => page?.items.map(({ id }) => id) ?? []));
      const ids = asked.map(([id]) => id);
      const found = await call(
        listCards({ query: { ...query, fields, ids: ids.join(',') as never, page_size: MOST } }),
      );
      const byId = new Map(found.items.map((card) => [card.id!, card]));
      client.setQueriesData<Page>({ queryKey: ['cards', 'list'] }, (page) =>
        page?.items.some(({ id }) => byId.has(id!))
          ? { ...page, items: page.items.map((card) => ({ ...card, ...byId.get(card.id!) })) }
          : page,
      );
      const added = asked.filter(([id, isNew]) => isNew && byId.has(id) && !listed.has(id));
      setState((before) => ({
        changed: new Set([...before.changed, ...ids.filter((id) => listed.has(id))]),
        added: new Set([...before.added, ...added.map(([id]) => id)]),
      }));
    };
    const stop = onLiveChange(({ event, card, isOwn }) => {
      if (isOwn || card === null) return;
      waiting.set(card, /^card\.(created|restored)$/.test(event) || waiting.get(card) === true);
      timer ??= window.setTimeout(() => {
        timer = undefined;
        // what could not be read is read with the list
        look().catch(() => undefined);
      }, COLLECT_MS);
    });
    return () => {
      stop();
      window.clearTimeout(timer);
    };
  }, [client, query, fields]);
  const onSeen = useCallback(
    (card: string) =>
      setState((before) => {
        if (!before.changed.has(card)) return before;
        const changed = new Set(before.changed);
        changed.delete(card);
        return { ...before, changed };
      }),
    [],
  );
  const show = useCallback(() => {
    setState(none);
    for (const name of ['cards', 'facets']) void client.invalidateQueries({ queryKey: [name] });
  }, [client]);
  return { ...state, onSeen, show };
}
