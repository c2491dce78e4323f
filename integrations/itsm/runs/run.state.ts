import {
  isLastFullReadByPush,
  type SyncStateRow,
  type UsableMapping,
} from '../../../domain/exchange/itsm/mappings.load.ts';
import type { SyncDirection } from '../../../domain/exchange/itsm/mappings.types.ts';
import type { RunRow, RunStage } from '../../../domain/exchange/itsm/runs.store.ts';
import type { Ctx } from '../../../domain/kernel/context.ts';
import type { Db } from '../../../platform/database.ts';
import type { Connector } from '../connectors/connector.ts';
import type { CardReader } from '../port/local.cards.ts';
import { type Clock, systemClock } from '../remote.ts';

/** The phases of reading and planning in their order. An interrupted run resumes with its current phase. */
export const phases = [
  'records',
  'again',
  'deletions',
  'looks',
  'local',
  'relations',
  'relation_deletions',
  'ends',
  'plan',
  'made',
] as const;
type Phase = (typeof phases)[number];

/** The checkpoint of reading and planning, stored with each page as JSON. */
export interface RunState {
  phase: Phase;
  /** Where the phase resumes; null: at its beginning. */
  cursor: string | null;
  /** When reading began, milliseconds by our clock. */
  startedAt: number;
  /** The time of the plan; RFC 3339. */
  now: string;
  /** How far the remote's clock is ahead, in milliseconds; null if unknown. */
  aheadMs: number | null;
  /** The time of the newest change that was read; RFC 3339. */
  newest: string | null;
  newestLink: string | null;
  /** Rows are hidden from the account, so that missing records do not count as gone. */
  withheld: boolean;
  linksWithheld: boolean;
  /** Mapped columns that are hidden from the account; the next run then reads from the same point as this one. */
  hidden: string[];
  fetched: number;
  /** The number of changes older than the last run that were not in it; missing in runs of an older release. */
  late?: number;
  relations: number;
  /** The position of the change feed when reading began. */
  localPosition: string;
}

/** The clock and page size, which tests replace. */
export interface RunConditions {
  clock: Clock;
  /** Records of a page. */
  page: number;
}

export const defaultConditions: RunConditions = { clock: systemClock, page: 1_000 };

/** The mapping as a run stores it; `sync_direction` is the direction of the run. */
export interface RunMapping extends UsableMapping {
  /** The direction of the stored mapping. */
  mapping_direction: SyncDirection;
  /** Records that this run reads even if unchanged. Later additions are for the next run. */
  again: string[];
}

/** The input of a run. */
interface RunInput {
  runId: string;
  mappingId: string;
  /** A full read, or a delta. */
  complete: boolean;
  mapping: RunMapping;
  syncState: SyncStateRow;
}

/** The context of reading and planning. */
export interface RunWork extends RunInput {
  ctx: Ctx;
  db: Db;
  connector: Connector;
  cards: CardReader;
  /** Records of a page. */
  page: number;
  signal: AbortSignal;
  state: RunState;
  /**
   * Stores the checkpoint in one transaction with the writes of `write`.
   * @throws JobStopped when the job has lost its lease.
   */
  checkpoint(
    change: Partial<RunState>,
    write?: (sql: import('knex').Knex.Transaction) => Promise<void>,
  ): Promise<void>;
}

/** Where a run starts to read; null: from the beginning. */
interface ResumePoint {
  watermark: string | null;
  localPosition: string | null;
  /**
   * Earlier reads have skipped records without a card, so the delta does not contain all of them, and no record may be created for
   * a card that could correspond to one of them.
   */
  hasSkippedUnpaired: boolean;
}

type Directed = Pick<RunInput, 'syncState' | 'mapping'>;

/** The direction of a run that covers only one direction of a bidirectional mapping; else null. */
const singleDirectionOf = ({
  mapping: { sync_direction: direction, mapping_direction },
}: Pick<Directed, 'mapping'>) => {
  return direction === mapping_direction || direction === 'bidirectional' ? null : direction;
};

/**
 * Where a run starts to read. A pull of a bidirectional mapping shares the watermark with bidirectional runs, because it plans all
 * that it has read; but not their feed position, because it pushes nothing. For a push it is the opposite.
 */
export function resumePoint(run: Directed): ResumePoint {
  const { syncState } = run;
  const singleDirection = singleDirectionOf(run);
  const { watermark, local_position: localPosition } = syncState;
  if (singleDirection === 'pull')
    return {
      watermark,
      localPosition: laterPosition(localPosition, syncState.pulled_position),
      hasSkippedUnpaired: false,
    };
  if (singleDirection === 'push' && isLastFullReadByPush(syncState))
    return { watermark: syncState.pushed_watermark, localPosition, hasSkippedUnpaired: true };
  return { watermark, localPosition, hasSkippedUnpaired: run.mapping.mapping_direction === 'push' };
}

const laterPosition = (left: string | null, right: string | null): string | null =>
  left === null || right === null ? (left ?? right) : BigInt(left) > BigInt(right) ? left : right;

/** Where the next runs start to read. */
export interface SyncProgress {
  watermark: string | null;
  linksWatermark: string | null;
  localPosition: string | null;
  /** When the last bidirectional full read began; null requires a full read. */
  completeReadAt: string | null;
  /** The same of runs in one direction of a bidirectional mapping. */
  pulledReadAt: string | null;
  pushedReadAt: string | null;
  pulledPosition: string | null;
  pushedWatermark: string | null;
}

/** The progress that is stored in the sync state. */
export const storedProgress = (syncState: SyncStateRow): SyncProgress => ({
  watermark: syncState.watermark,
  linksWatermark: syncState.links_watermark,
  localPosition: syncState.local_position,
  completeReadAt: syncState.complete_read_at,
  pulledReadAt: syncState.pulled_read_at,
  pushedReadAt: syncState.pushed_read_at,
  pulledPosition: syncState.pulled_position,
  pushedWatermark: syncState.pushed_watermark,
});

/** Makes the next run of each direction a full read. */
export const withFullReadNext = (progress: SyncProgress): SyncProgress => ({
  ...progress,
  completeReadAt: null,
  pulledReadAt: null,
  pushedReadAt: null,
});

/** Where the next runs start to read after this one. A run in one direction does not advance the progress of the other. */
export function progressAfter(run: Directed & { state: RunState; complete: boolean }): SyncProgress {
  const { state, complete, syncState } = run;
  const before = storedProgress(syncState);
  // with hidden columns nothing advances, so that their changes are read when they are visible again
  const canAdvance = state.hidden.length === 0;
  const singleDirection = singleDirectionOf(run);
  const pulls = canAdvance && singleDirection !== 'push';
  const pushes = canAdvance && singleDirection !== 'pull';
  // the remote's time when reading began, since later changes belong to the next read. A clock that is ahead may be corrected
  // before that and then report earlier times, so its lead does not count
  const began =
    state.aheadMs === null ? null : new Date(state.startedAt + Math.min(state.aheadMs, 0)).toISOString();
  const later = (previous: string | null, newest: string | null) => {
    const next = began ?? newest;
    return previous === null || (next !== null && next > previous) ? next : previous;
  };
  // relations are stored for runs of either direction
  const canAdvanceLinks = canAdvance && (complete || !state.linksWithheld);
  const progress: SyncProgress = {
    ...before,
    watermark: pulls ? later(before.watermark, state.newest) : before.watermark,
    linksWatermark: canAdvanceLinks ? later(before.linksWatermark, state.newestLink) : before.linksWatermark,
    localPosition: pushes ? state.localPosition : before.localPosition,
  };
  const readAt = complete && canAdvance ? new Date(state.startedAt).toISOString() : undefined;
  if (singleDirection === null) progress.completeReadAt = readAt ?? before.completeReadAt;
  if (singleDirection === 'pull') {
    progress.pulledReadAt = readAt ?? before.pulledReadAt;
    progress.pulledPosition = canAdvance ? state.localPosition : before.pulledPosition;
  }
  if (singleDirection === 'push') {
    progress.pushedReadAt = readAt ?? before.pushedReadAt;
    progress.pushedWatermark = canAdvance
      ? later(before.pushedWatermark, state.newest)
      : before.pushedWatermark;
  }
  // changes of hidden rows can only be detected by a full read
  return state.withheld ? withFullReadNext(progress) : progress;
}

export type Stopwatch = ReturnType<typeof stopwatch>;

/** Sums the seconds of each stage over all attempts of a run. */
export function stopwatch({ stats }: Pick<RunRow, 'stats'>) {
  const seconds: Record<string, number> = { ...stats.seconds };
  const add = (stage: RunStage, since: number) => {
    seconds[stage] = round((seconds[stage] ?? 0) + (performance.now() - since) / 1000);
  };
  return {
    seconds,
    add,
    async timed<T>(stage: RunStage, work: () => Promise<T>): Promise<T> {
      const from = performance.now();
      try {
        return await work();
      } finally {
        add(stage, from);
      }
    },
  };
}

const round = (seconds: number): number => Math.round(seconds * 100) / 100;
