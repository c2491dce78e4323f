import { extensions } from '../../../domain/app/extensions.ts';
import { JOB_STATE_CHANNEL } from '../../../domain/kernel/jobs/jobs.lease.ts';
import { readJobStates } from '../../../domain/kernel/jobs/jobs.queries.ts';
import type { Services } from '../../../domain/kernel/services.ts';
import type { Streams } from './stream.open.ts';

/** Minimum time between two notifications, in milliseconds; changes in between are combined. */
const DEBOUNCE_MS = 100;

const watchedWith = new Map(extensions.jobs.map((kind) => [kind.kind, kind.watchedWith]));

/**
 * Sends `job.updated` frames to the owner of a job and to users who may watch its kind.
 * @returns a function that stops it.
 */
export function notifyJobStates(services: Services, streams: Streams): () => void {
  const pending = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  const sendStates = async () => {
    const ids = [...pending];
    pending.clear();
    for (const { owner_id, scopes, ...state } of await readJobStates(services.db, ids)) {
      const permission = watchedWith.get(state.kind);
      streams.broadcast(
        'job.updated',
        state,
        ({ userId, hasPermission, coversScopes }) =>
          (userId === owner_id && coversScopes(scopes)) ||
          (permission !== undefined && hasPermission(permission)),
      );
    }
  };
  const startTimer = () => {
    timer = setTimeout(() => {
      timer = undefined;
      if (pending.size > 0) startTimer();
    }, DEBOUNCE_MS);
    sendStates().catch((error: unknown) => services.log.warn({ err: error }, 'job states could not be sent'));
  };
  const off = services.signals.on(JOB_STATE_CHANNEL, (id) => {
    if (id === '' || !streams.anyOpen()) return;
    pending.add(id);
    if (!timer) startTimer();
  });
  return () => {
    off();
    clearTimeout(timer);
  };
}
