import { RemoteError } from '../../remote.ts';
import type { ItopObject, ItopTransport, Query } from './transport.ts';

/** Where the next range starts. */
export interface Place {
  /** The last key of the ranges read. */
  after: number;
  /** Whether all remaining objects are requested, since they may fit a page. */
  rest: boolean;
  /** How many keys a range has; 0 while unknown. */
  span: number;
  /** How many objects remained when that was last known. */
  left: number;
}

export const start: Place = { after: 0, rest: true, span: 0, left: 0 };

export type RangeRequest = Omit<Query, 'isPage'>;

export interface Range {
  objects: ItopObject[];
  next: Place | null;
}

/** How much wider the next range is at most. */
const WIDENING = 4;

/**
 * Reads objects in the order of their keys. The service orders by name and knows no other order, and its pages by offset lose
 * rows when others go; so keys are taken range by range, each whole: as many keys as a page has rows at least, more where
 * keys are sparse. What is left is asked for at once when it fits a page.
 */
export async function readRange(
  transport: Pick<ItopTransport, 'get'>,
  request: RangeRequest,
  place: Place,
): Promise<Range> {
  let { rest, span, left } = place;
  for (;;) {
    const until = rest ? undefined : place.after + span;
    const { objects, found, pageSize } = await transport.get({
      ...request,
      isPage: true,
      conditions: [
        ...(request.conditions ?? []),
        `id > ${place.after}`,
        ...(until === undefined ? [] : [`id <= ${until}`]),
      ],
    });
    const stray = objects.find(({ key }) => Number(key) <= place.after || Number(key) > (until ?? Infinity));
    if (stray) {
      const what = `${request.doing} shows an object outside of the keys that were asked for`;
      throw new RemoteError('paging_ignored', `class ${request.class}`, what);
    }
    const whole = found <= objects.length;
    if (whole || (!rest && span <= 1)) {
      const next = rest ? null : nextOf({ after: place.after + span, span, left }, objects.length, pageSize);
      return { objects: objects.sort((a, b) => Number(a.key) - Number(b.key)), next };
    }
    // more match than a page holds, and their order is unknown
    if (rest) {
      left = found;
      span = Math.max(span, pageSize, 1);
    } else {
      const fitting = Math.floor((span * pageSize) / found / 2);
      span = span > pageSize ? Math.max(pageSize, fitting, 1) : Math.ceil(span / 2);
    }
    rest = false;
  }
}

function nextOf({ after, span, left }: Omit<Place, 'rest'>, read: number, pageSize: number): Place {
  const remaining = left - read;
  const fitting = read === 0 ? Infinity : Math.floor((span * pageSize * 0.8) / read);
  const wider = Math.max(pageSize, Math.min(fitting, span * WIDENING));
  // a small rest, or a gap in the keys, is not read range by range
  return { after, rest: remaining <= pageSize || read === 0, span: wider, left: remaining };
}
