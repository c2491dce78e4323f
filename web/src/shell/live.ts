import { useEffect } from 'react';
import { followEvents } from '#client';
import { queryClient, useMe } from './queries.ts';
import { checkSession } from './session.ts';

/** How long events are collected before what they change is read again, in milliseconds. */
const COLLECT_MS = 250;

/** The first part of the query keys that events of a kind change. */
const changedBy: Record<string, string[]> = {
  card: ['cards', 'card', 'facets', 'home'],
  relation: ['cards', 'card', 'home'],
  tag: ['cards', 'card'],
  stakeholder: ['card'],
  comment: ['card'],
  todo: ['badges', 'home'],
  survey: ['badges', 'home'],
  notification: ['badges', 'notifications'],
  card_type: ['metamodel'],
  relation_type: ['metamodel'],
  settings: ['bootstrap'],
};

/** What somebody has changed. */
export interface LiveChange {
  /** Such as `card.updated`. */
  event: string;
  card: string | null;
  /** Whether it was the person themselves. */
  isOwn: boolean;
}

const listeners = new Set<(change: LiveChange) => void>();

/** Calls a function for each change, until the returned one is called. */
export function onLiveChange(listener: (change: LiveChange) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/**
 * Reads again what a kind of events changes. Lists of rows stay as they are when others change cards, so that no row
 * moves under the pointer; they are read again when they are opened next.
 */
function refresh(kind: string, isOwn: boolean): void {
  for (const key of changedBy[kind] ?? []) {
    const isList = ({ queryKey }: { queryKey: readonly unknown[] }) => queryKey[1] === 'list';
    if (key !== 'cards' || isOwn) void queryClient.invalidateQueries({ queryKey: [key] });
    else {
      void queryClient.invalidateQueries({ queryKey: [key], predicate: (query) => !isList(query) });
      void queryClient.invalidateQueries({ queryKey: [key, 'list'], refetchType: 'none' });
    }
  }
}

/** Reads again what is changed, while a page is shown; one tab holds the stream for all. */
export function useLiveUpdates(): void {
  const { id: me } = useMe();
  useEffect(() => {
    const stopped = new AbortController();
    const channel = new BroadcastChannel('estate-live');
    const kinds = new Map<string, boolean>();
    let timer: number | undefined;
    const collect = (change: LiveChange) => {
      const kind = change.event.split('.')[0]!;
      kinds.set(kind, change.isOwn || kinds.get(kind) === true);
      for (const listener of listeners) listener(change);
      timer ??= window.setTimeout(() => {
        timer = undefined;
        for (const [one, isOwn] of kinds) refresh(one, isOwn);
        kinds.clear();
      }, COLLECT_MS);
    };
    channel.onmessage = ({ data }: MessageEvent<LiveChange>) => collect(data);
    const hold = async () => {
      for await (const { event, data } of followEvents({ signal: stopped.signal })) {
        const { card_id: card = null, actor } = data as {
          card_id?: string | null;
          actor?: { id: string } | null;
        };
        const change = { event, card, isOwn: actor?.id === me };
        collect(change);
        channel.postMessage(change);
      }
    };
    // the service refuses the stream of a session that has ended
    navigator.locks
      .request('estate-live', { signal: stopped.signal }, hold)
      .catch(() => (stopped.signal.aborted ? undefined : checkSession()));
    return () => {
      stopped.abort();
      window.clearTimeout(timer);
      channel.close();
    };
  }, [me]);
}
