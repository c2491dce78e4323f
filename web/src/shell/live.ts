import { useEffect } from 'react';
import { followEvents } from '#client';
import { queryClient } from './queries.ts';

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
  notification: ['badges'],
  card_type: ['metamodel'],
  relation_type: ['metamodel'],
  settings: ['bootstrap'],
};

/** Reads again what others change, while a page is shown; one tab holds the stream for all. */
export function useLiveUpdates(): void {
  useEffect(() => {
    const stopped = new AbortController();
    const channel = new BroadcastChannel('estate-live');
    const kinds = new Set<string>();
    let timer: number | undefined;
    const collect = (kind: string) => {
      kinds.add(kind);
      timer ??= window.setTimeout(() => {
        timer = undefined;
        for (const key of new Set([...kinds].flatMap((one) => changedBy[one] ?? []))) {
          void queryClient.invalidateQueries({ queryKey: [key] });
        }
        kinds.clear();
      }, COLLECT_MS);
    };
    channel.onmessage = ({ data }: MessageEvent<string>) => collect(data);
    const hold = async () => {
      for await (const { event } of followEvents({ signal: stopped.signal })) {
        const kind = event.split('.')[0]!;
        collect(kind);
        channel.postMessage(kind);
      }
    };
    navigator.locks.request('estate-live', { signal: stopped.signal }, hold).catch(() => undefined);
    return () => {
      stopped.abort();
      window.clearTimeout(timer);
      channel.close();
    };
  }, []);
}
