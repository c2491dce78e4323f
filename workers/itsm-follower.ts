import { randomUUID } from 'node:crypto';
import {
  hasChanged,
  listFollowers,
  newestPosition,
  noteFollowed,
} from '../domain/exchange/itsm/mappings.follow.ts';
import { listDue } from '../domain/exchange/itsm/runs.due.ts';
import { type RunRequest, startRun } from '../domain/exchange/itsm/runs.start.ts';
import { systemCaller } from '../domain/kernel/context.ts';
import { createContext, type Services } from '../domain/kernel/services.ts';
import { EstateError } from '../platform/errors.ts';

/** Changes that come one upon the other go out together. */
const GATHER_MS = 2_000;
/** How soon is looked without a signal: for signals that were lost, and for what came during a run. */
const LOOK_MS = 10_000;

export interface ItsmFollower {
  stop(): Promise<void>;
}

/**
 * Starts runs for what changes in the inventory, where a mapping says so, and scheduled ones that had to wait. Any number
 * of processes may look: a mapping has one run at a time.
 */
export function startItsmFollower(services: Services, gatherMs = GATHER_MS): ItsmFollower {
  const { db, signals, log } = services;
  /** By mapping, up to where nothing concerned it. */
  const seen = new Map<string, number>();
  let stopped = false;
  let round: Promise<void> | undefined;
  let again = false;
  let timer: NodeJS.Timeout | undefined;
  let failing = false;

  const look = async () => {
    try {
      for (const id of await listDue(db)) {
        if (!stopped) await start(services, { mappingId: id, trigger: 'schedule', ifDue: true });
      }
      const followers = await listFollowers(db);
      if (followers.length > 0) {
        const newest = await newestPosition(db);
        for (const follower of followers) {
          if (follower.busy || stopped) continue;
          const from = Math.max(follower.position, seen.get(follower.id) ?? 0);
          if (from >= newest) continue;
          const changed = await hasChanged(db, follower, from, newest);
          if (!changed || (await push(services, follower.id, newest))) seen.set(follower.id, newest);
        }
      }
      failing = false;
    } catch (error) {
      // the next look tries again
      if (!failing)
        log.warn({ err: error }, 'changes for synchronisations could not be looked at; trying again');
      failing = true;
    }
  };

  const begin = () => {
    timer = undefined;
    if (stopped) return;
    if (round) {
      again = true;
      return;
    }
    round = look().finally(() => {
      round = undefined;
      if (!again) return;
      again = false;
      wake();
    });
  };
  const wake = () => {
    if (!stopped) timer ??= setTimeout(begin, gatherMs);
  };

  const unlisten = signals.on('estate_feed', wake);
  const looks = setInterval(wake, LOOK_MS);
  wake();

  return {
    async stop() {
      stopped = true;
      clearInterval(looks);
      clearTimeout(timer);
      unlisten();
      await round;
    },
  };
}

/** @returns whether a run was started. */
async function push(services: Services, mappingId: string, position: number): Promise<boolean> {
  const started = await start(services, { mappingId, trigger: 'changes', direction: 'push' });
  if (started) await noteFollowed(services.db, mappingId, position);
  return started;
}

/** @returns whether a run was started. */
async function start(services: Services, request: RunRequest): Promise<boolean> {
  const ctx = await createContext(services, systemCaller, {
    requestId: randomUUID(),
    origin: 'system',
    tool: request.trigger === 'changes' ? 'itsm changes' : 'itsm schedule',
  });
  try {
    return (await startRun(ctx, request)) !== null;
  } catch (error) {
    // paused or deleted this very moment
    if (!(error instanceof EstateError) || !['wrong_state', 'not_found'].includes(error.code)) throw error;
    return false;
  }
}
