import { extensions } from '../../../domain/app/extensions.ts';
import { JOB_STATE_CHANNEL } from '../../../domain/kernel/jobs/jobs.lease.ts';
import { readJobStates } from '../../../domain/kernel/jobs/jobs.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type { Streams } from './stream.open.ts';

/** News of a job are notified at once, and those that come within this time after it once at its end, in milliseconds. */
const GATHER_MS = 100;

const watchedWith = new Map(extensions.jobs.map((kind) => [kind.kind, kind.watchedWith]));

/**
 * Reports owners of jobs, and those who may watch their kind, how these get on, as `job.updated` frames without an id.
 * @returns what ends it.
 */
export function notifyJobStates(services: Services, streams: Streams): () => void {
  const pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const tell = async () => {
    const ids = [...pending];
    pending.clear();
    for (const { owner_id, scopes, ...news } of await readJobStates(services.db, ids)) {
      const permission = watchedWith.get(news.kind);
      streams.tell(
        'job.updated',
        news,
        ({ userId, holds, reaches }) =>
          (userId === owner_id && reaches(scopes)) || (permission !== undefined && holds(permission)),
      );
    }
  };
  const begin = () => {
    timer = setTimeout(() => {
      timer = undefined;
      if (pending.size > 0) begin();
    }, GATHER_MS);
    tell().catch((error: unknown) => services.log.warn({ err: error }, 'news of jobs could not be told'));
  };
  const off = services.signals.on(JOB_STATE_CHANNEL, (id) => {
    if (id === '' || !streams.anyOpen()) return;
    pending.add(id);
    if (!timer) begin();
  });
  return () => {
    off();
    clearTimeout(timer);
  };
}
