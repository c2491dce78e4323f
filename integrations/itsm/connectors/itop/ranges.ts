import { done, failed, type Result } from '../../remote.failures.ts';
import { select } from './oql.ts';
import type { Shown, Told, Transport } from './transport.ts';

/** Where a reading goes on; its text is nobody else's business. */
export interface Place {
  /** The key of the last range that was read. */
  after: number;
  /** Whether all that is left is asked for, since it may fit a page. */
  rest: boolean;
  /** How many keys a range has; 0 while that is not known. */
  span: number;
  /** How many objects were still to come when that was last known. */
  left: number;
}

export const start: Place = { after: 0, rest: true, span: 0, left: 0 };

export interface RangeRequest {
  class: string;
  conditions: readonly string[];
  /** For `output_fields`. */
  fields: string;
  limit: number;
  /** In words, such as `Reading Server`. */
  doing: string;
}

export interface Range {
  objects: Shown[];
  next: Place | null;
}

/** How much wider a range becomes at most from one to the next. */
const WIDENING = 4;

/**
 * Reads objects in the order of their keys. The service orders by name and knows no other order, and its pages by offset lose
 * rows when others go; so keys are taken range by range, each whole: as many keys as a page has rows at least, more where
 * keys are sparse. What is left is asked for at once when it fits a page.
 */
export async function readRange(
  transport: Transport,
  request: RangeRequest,
  place: Place,
): Promise<Result<Range>> {
  let { rest, span, left } = place;
  for (;;) {
    const until = rest ? undefined : place.after + span;
    const asked = await transport.ask({
      doing: request.doing,
      isRead: true,
      pageSize: request.limit,
      operation: (limit) => ({
        operation: 'core/get',
        class: request.class,
        key: select(request.class, [
          ...request.conditions,
          `id > ${place.after}`,
          until === undefined ? '' : `id <= ${until}`,
        ]),
        output_fields: request.fields,
        limit,
        page: 1,
      }),
    });
    if (!asked.ok) return asked;
    const { objects, found, pageSize } = asked.value;
    const stray = objects.find(({ key }) => Number(key) <= place.after || Number(key) > (until ?? Infinity));
    if (stray) {
      const what = `${request.doing} shows an object outside of the keys that were asked for`;
      return failed('paging_ignored', `class ${request.class}`, what);
    }
    const whole = found <= objects.length;
    if (whole || (!rest && span <= 1)) {
      const next = rest ? null : nextOf({ after: place.after + span, span, left }, objects.length, pageSize);
      return done({ objects: byKey(asked.value), next });
    }
    // more fit than a page takes, and nobody knows which of them come first
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

const byKey = ({ objects }: Told): Shown[] => objects.sort((a, b) => Number(a.key) - Number(b.key));

function nextOf({ after, span, left }: Omit<Place, 'rest'>, read: number, pageSize: number): Place {
  const remaining = left - read;
  const fitting = read === 0 ? Infinity : Math.floor((span * pageSize * 0.8) / read);
  const wider = Math.max(pageSize, Math.min(fitting, span * WIDENING));
  // the little that is left, or keys that nobody has, are not gone through range by range
  return { after, rest: remaining <= pageSize || read === 0, span: wider, left: remaining };
}
