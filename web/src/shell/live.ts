import { useEffect } from 'react';
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
      for (;;) {
        await readStream(stopped.signal, (kind) => {
          collect(kind);
          channel.postMessage(kind);
        }).catch(() => undefined);
        if (stopped.signal.aborted) return;
        await new Promise((resolve) => setTimeout(resolve, 3_000));
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

/** Reads the event stream until it ends. @param onEvent gets the kind of object that an event is about. */
async function readStream(signal: AbortSignal, onEvent: (kind: string) => void): Promise<void> {
  const response = await fetch('/api/v1/events/stream', {
    headers: { accept: 'text/event-stream', 'X-Estate-Client': 'web' },
    signal,
  });
  if (!response.ok || !response.body) return;
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const lines = (rest + value).split('\n');
    rest = lines.pop()!;
    for (const line of lines) {
      if (line.startsWith('event:')) onEvent(line.slice(6).trim().split('.')[0]!);
    }
  }
}
