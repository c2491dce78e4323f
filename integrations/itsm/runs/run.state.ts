import {
  hasPushedLast,
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

/** The parts of reading and planning, in their order; a run that was killed goes on with the one it was at. */
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

/** Where a run stands; kept with each page. Plain JSON. */
export interface RunState {
  phase: Phase;
  /** Where the phase goes on; null: from its beginning. */
  cursor: string | null;
  /** When reading began, milliseconds by our clock. */
  startedAt: number;
  /** The moment of the plan; RFC 3339. */
  now: string;
  /** How far the remote's clock is ahead, in milliseconds; null where it tells no time. */
  aheadMs: number | null;
  /** The newest change that was read; RFC 3339. */
  newest: string | null;
  newestLink: string | null;
  /** Rows were kept back: what is missing is not gone. */
  withheld: boolean;
  linksWithheld: boolean;
  /** Mapped columns that were kept back: the next run goes on from where this one has. */
  hidden: string[];
  fetched: number;
  /** Changes that were read and bear a time from before the last reading; missing in runs begun by an older version. */
  late?: number;
  relations: number;
  /** Up to where the feed was when reading began. */
  localPosition: string;
}

/** What runs go by where it is given, so that waiting can be made free and pages small. */
export interface RunConditions {
  clock: Clock;
  /** Records of a page. */
  page: number;
}

export const usualConditions: RunConditions = { clock: systemClock, page: 1_000 };

/** The mapping as a run stores it; `sync_direction` is the direction of the run. */
export interface RunMapping extends UsableMapping {
  /** The direction of the stored mapping. */
  mapping_direction: SyncDirection;
  /** Records that earlier runs left to be read again. Later additions are for the next run. */
  again: string[];
}

/** What a run knows before it reads. */
interface RunBasis {
  runId: string;
  mappingId: string;
  /** Everything is read, or only what has changed. */
  complete: boolean;
  mapping: RunMapping;
  syncState: SyncStateRow;
}

/** What reading and planning work with. */
export interface RunWork extends RunBasis {
  ctx: Ctx;
  db: Db;
  connector: Connector;
  cards: CardReader;
  /** Records of a page. */
  page: number;
  signal: AbortSignal;
  state: RunState;
  /**
   * One transaction: what `write` does, and where the run stands after it.
   * @throws JobStopped when the run is not ours any more.
   */
  keep(
    change: Partial<RunState>,
    write?: (sql: import('knex').Knex.Transaction) => Promise<void>,
  ): Promise<void>;
}

/** Where the reading of a run goes on from; what is null was never read. */
interface ResumePoint {
  watermark: string | null;
  localPosition: string | null;
  /**
   * It goes on from a reading that has passed over records without a card: what it hears of is not all that is there, and
   * no record is made for a card that one of them may be.
   */
  passedOver: boolean;
}

type Way = Pick<RunBasis, 'syncState' | 'mapping'>;

/** The direction of a run that leaves the other one of its mapping out. */
const oneWayOf = ({ mapping: { sync_direction: direction, mapping_direction } }: Pick<Way, 'mapping'>) => {
  return direction === mapping_direction || direction === 'bidirectional' ? null : direction;
};

/**
 * Where a run goes on. One that pulls shares the watermark with runs both ways: it has brought in, or left to a person, all
 * that it has read. But it has pushed nothing, and where it has read the feed is known to itself alone. For one that pushes
 * it is the other way round.
 */
export function resumePoint(way: Way): ResumePoint {
  const { syncState } = way;
  const oneWay = oneWayOf(way);
  const { watermark, local_position: localPosition } = syncState;
  if (oneWay === 'pull')
    return { watermark, localPosition: further(localPosition, syncState.pulled_position), passedOver: false };
  if (oneWay === 'push' && hasPushedLast(syncState))
    return { watermark: syncState.pushed_watermark, localPosition, passedOver: true };
  return { watermark, localPosition, passedOver: way.mapping.mapping_direction === 'push' };
}

const further = (left: string | null, right: string | null): string | null =>
  left === null || right === null ? (left ?? right) : BigInt(left) > BigInt(right) ? left : right;

/** Where the next runs go on. */
export interface Reached {
  watermark: string | null;
  linksWatermark: string | null;
  localPosition: string | null;
  /** When reading began, if everything was read. */
  completeReadAt: string | null;
  /** The same of runs that go one of the mapping's two ways. */
  pulledReadAt: string | null;
  pushedReadAt: string | null;
  pulledPosition: string | null;
  pushedWatermark: string | null;
}

/** What the sync state holds of it. */
export const previousProgress = (syncState: SyncStateRow): Reached => ({
  watermark: syncState.watermark,
  linksWatermark: syncState.links_watermark,
  localPosition: syncState.local_position,
  completeReadAt: syncState.complete_read_at,
  pulledReadAt: syncState.pulled_read_at,
  pushedReadAt: syncState.pushed_read_at,
  pulledPosition: syncState.pulled_position,
  pushedWatermark: syncState.pushed_watermark,
});

/** Has the next run read everything, whichever way it goes. */
export const withFullReadNext = (reached: Reached): Reached => ({
  ...reached,
  completeReadAt: null,
  pulledReadAt: null,
  pushedReadAt: null,
});

/** Where the next runs go on after this one. What its direction leaves out is left for one of the other direction. */
export function reachedBy(way: Way & { state: RunState; complete: boolean }): Reached {
  const { state, complete, syncState } = way;
  const before = previousProgress(syncState);
  // what was said in columns that were kept back is heard when they are shown again
  const hears = state.hidden.length === 0;
  const oneWay = oneWayOf(way);
  const pulls = hears && oneWay !== 'push';
  const pushes = hears && oneWay !== 'pull';
  // by the remote's clock at the beginning: what is written meanwhile comes with the next reading. A clock that is ahead
  // may be put right before that, and tell changes by earlier times than it has told of here
  const began =
    state.aheadMs === null ? null : new Date(state.startedAt + Math.min(state.aheadMs, 0)).toISOString();
  const later = (was: string | null, newest: string | null) => {
    const reached = began ?? newest;
    return was === null || (reached !== null && reached > was) ? reached : was;
  };
  // relations are remembered as they were told, whoever is to do something about them
  const hearsLinks = hears && (complete || !state.linksWithheld);
  const reached: Reached = {
    ...before,
    watermark: pulls ? later(before.watermark, state.newest) : before.watermark,
    linksWatermark: hearsLinks ? later(before.linksWatermark, state.newestLink) : before.linksWatermark,
    localPosition: pushes ? state.localPosition : before.localPosition,
  };
  const readAt = complete && hears ? new Date(state.startedAt).toISOString() : undefined;
  if (oneWay === null) reached.completeReadAt = readAt ?? before.completeReadAt;
  if (oneWay === 'pull') {
    reached.pulledReadAt = readAt ?? before.pulledReadAt;
    reached.pulledPosition = hears ? state.localPosition : before.pulledPosition;
  }
  if (oneWay === 'push') {
    reached.pushedReadAt = readAt ?? before.pushedReadAt;
    reached.pushedWatermark = hears ? later(before.pushedWatermark, state.newest) : before.pushedWatermark;
  }
  // a change in a row that was kept back is heard of when everything is read again
  return state.withheld ? withFullReadNext(reached) : reached;
}

export type Stopwatch = ReturnType<typeof stopwatch>;

/** Adds up the seconds of stages, over all that carry the run on. */
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
