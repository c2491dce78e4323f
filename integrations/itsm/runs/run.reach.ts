import { hasPushedLast } from '../../../domain/exchange/itsm/book.reach.ts';
import type { StoredBook } from '../../../domain/exchange/itsm/book.types.ts';
import type { RunBasis, RunState } from './run.types.ts';

/** Where the reading of a run goes on from; what is null was never read. */
export interface Reach {
  watermark: string | null;
  localPosition: string | null;
  /**
   * It goes on from a reading that has passed over records without a card: what it hears of is not all that is there, and
   * no record is made for a card that one of them may be.
   */
  passedOver: boolean;
}

type Way = Pick<RunBasis, 'book' | 'loaded' | 'mappingDirection'>;

/** The direction of a run that leaves the other one of its mapping out. */
const oneWayOf = ({ loaded, mappingDirection }: Pick<Way, 'loaded' | 'mappingDirection'>) => {
  const { direction } = loaded.mapping;
  return direction === mappingDirection || direction === 'bidirectional' ? null : direction;
};

/**
 * Where a run goes on. One that pulls shares the watermark with runs both ways: it has brought in, or left to a person, all
 * that it has read. But it has pushed nothing, and where it has read the feed is known to itself alone. For one that pushes
 * it is the other way round.
 */
export function reachOf(way: Way): Reach {
  const { book } = way;
  const oneWay = oneWayOf(way);
  const { watermark, local_position: localPosition } = book;
  if (oneWay === 'pull')
    return { watermark, localPosition: further(localPosition, book.pulled_position), passedOver: false };
  if (oneWay === 'push' && hasPushedLast(book))
    return { watermark: book.pushed_watermark, localPosition, passedOver: true };
  return { watermark, localPosition, passedOver: way.mappingDirection === 'push' };
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

/** What the book holds of it. */
export const reachedBefore = (book: StoredBook): Reached => ({
  watermark: book.watermark,
  linksWatermark: book.links_watermark,
  localPosition: book.local_position,
  completeReadAt: book.complete_read_at,
  pulledReadAt: book.pulled_read_at,
  pushedReadAt: book.pushed_read_at,
  pulledPosition: book.pulled_position,
  pushedWatermark: book.pushed_watermark,
});

/** Has the next run read everything, whichever way it goes. */
export const readingAll = (reached: Reached): Reached => ({
  ...reached,
  completeReadAt: null,
  pulledReadAt: null,
  pushedReadAt: null,
});

/** Where the next runs go on after this one. What its direction leaves out is left for one of the other direction. */
export function reachedBy(way: Way & { state: RunState; complete: boolean }): Reached {
  const { state, complete, book } = way;
  const before = reachedBefore(book);
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
  return state.withheld ? readingAll(reached) : reached;
}
