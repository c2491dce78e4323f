import { type RunRequest, startRun } from '../../domain/exchange/itsm/runs.commands.ts';
import {
  hasChanged,
  listDueMappings,
  listFollowers,
  readNewestPosition,
  storeFollowedPosition,
} from '../../domain/exchange/itsm/runs.due.ts';
import { type Services, systemContext } from '../../domain/kernel/services.ts';
import { EstateError } from '../../platform/errors.ts';
import { type Loop, startLoop } from '../loop.ts';

/**
 * Starts runs for changes in the inventory, for mappings that follow them, and deferred scheduled runs. Any number of processes
 * may run it: a mapping has one open run at a time.
 * @param delayMs how long after a change its run starts, so that changes in quick succession share a run.
 */
export function startItsmFollower(services: Services, delayMs = 2_000): Loop {
  const { db } = services;
  /** By mapping, the position up to which it has nothing to send. */
  const checked = new Map<string, number>();

  const startRuns = async (stop: AbortSignal) => {
    for (const id of await listDueMappings(db)) {
      if (!stop.aborted) await start(services, { mappingId: id, trigger: 'schedule', ifDue: true });
    }
    const followers = await listFollowers(db);
    if (followers.length === 0) return;
    const newest = await readNewestPosition(db);
    for (const follower of followers) {
      if (follower.busy || stop.aborted) continue;
      const from = Math.max(follower.position, checked.get(follower.id) ?? 0);
      if (from >= newest) continue;
      const changed = await hasChanged(db, follower, from, newest);
      if (!changed || (await push(services, follower.id, newest))) checked.set(follower.id, newest);
    }
  };

  return startLoop(
    {
      ...services,
      channel: 'estate_feed',
      // also for changes during a run
      pollMs: 10_000,
      delayMs,
      failure: 'changes for synchronisations could not be processed; trying again',
    },
    startRuns,
  );
}

/** @returns whether a run was started. */
async function push(services: Services, mappingId: string, position: number): Promise<boolean> {
  const started = await start(services, { mappingId, trigger: 'changes', direction: 'push' });
  if (started) await storeFollowedPosition(services.db, mappingId, position);
  return started;
}

/** @returns whether a run was started. */
async function start(services: Services, request: RunRequest): Promise<boolean> {
  const ctx = await systemContext(services, request.trigger === 'changes' ? 'itsm changes' : 'itsm schedule');
  try {
    return (await startRun(ctx, request)) !== null;
  } catch (error) {
    // paused or deleted in the meantime
    if (!(error instanceof EstateError) || !['wrong_state', 'not_found'].includes(error.code)) throw error;
    return false;
  }
}
