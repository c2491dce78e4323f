import { RemoteError } from '../../remote.ts';
import type { ItopObject, ItopTransport, Query } from './transport.ts';

/** Where the next range starts. */
export interface RangePosition {
  /** The last key of the ranges read. */
  after: number;
  /** Whether all remaining objects are requested, since they may fit on a page. */
  rest: boolean;
  /** Number of keys of a range; 0 while unknown. */
  span: number;
  /** Number of remaining objects when it was last known. */
  left: number;
}

export const startPosition: RangePosition = { after: 0, rest: true, span: 0, left: 0 };

export type RangeRequest = Omit<Query, 'isPage'>;

export interface Range {
  objects: ItopObject[];
  next: RangePosition | null;
}

/** Maximum factor by which the next range is wider. */
const MAX_WIDENING = 4;

/**
 * Reads objects in the order of their keys. The service only orders by name, and its pages by offset skip rows when others are
 * deleted. So each request reads a complete range of keys: at least as many keys as a page has rows, more if keys are sparse.
 * The remaining objects are requested together once they fit on a page.
 */
export async function readRange(
  transport: Pick<ItopTransport, 'get'>,
  request: RangeRequest,
  position: RangePosition,
): Promise<Range> {
  let { rest, span, left } = position;
  for (;;) {
    const until = rest ? undefined : position.after + span;
    const { objects, found, pageSize } = await transport.get({
      ...request,
      isPage: true,
      conditions: [
        ...(request.conditions ?? []),
        `id > ${position.after}`,
        ...(until === undefined ? [] : [`id <= ${until}`]),
      ],
    });
    const unexpected = objects.find(
      ({ key }) => Number(key) <= position.after || Number(key) > (until ?? Infinity),
    );
    if (unexpected) {
      const what = `${request.doing} returned an object outside of the requested keys`;
      throw new RemoteError('paging_ignored', `class ${request.class}`, what);
    }
    const isComplete = found <= objects.length;
    if (isComplete || (!rest && span <= 1)) {
      const next = rest
        ? null
        : nextOf({ after: position.after + span, span, left }, objects.length, pageSize);
      return { objects: objects.sort((a, b) => Number(a.key) - Number(b.key)), next };
    }
    // more objects match than fit on a page, in an unknown order
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

function nextOf(
  { after, span, left }: Omit<RangePosition, 'rest'>,
  read: number,
  pageSize: number,
): RangePosition {
  const remaining = left - read;
  const fitting = read === 0 ? Infinity : Math.floor((span * pageSize * 0.8) / read);
  const wider = Math.max(pageSize, Math.min(fitting, span * MAX_WIDENING));
  // few remaining objects, or a gap in the keys: request all remaining ones
  return { after, rest: remaining <= pageSize || read === 0, span: wider, left: remaining };
}
