import { createLru } from '../../../../../platform/lru.ts';
import { RemoteError } from '../../remote.ts';
import { pagesOf } from '../responses.ts';
import { remoteId } from './records.ts';
import {
  type ItopConfig,
  type ItopObject,
  type ItopTransport,
  inList,
  type Query,
  quote,
} from './transport.ts';

/**
 * How long before a time a read starts. An entry has the time of its change, which for an import or a synchronisation of
 * iTop is the time of its start, while entries are stored until its end.
 */
export const OVERLAP_MS = 2 * 3_600_000;
/** Maximum entries of the history in one request. */
const ENTRIES_AT_ONCE = 2_000;
/** An entry further in the future than clocks differ shows that the time zone is wrong. */
const AHEAD_MS = 10 * 60_000;
/** How far back and how many entries are read to determine the age of the newest. */
const NEWEST_MS = 2 * 3_600_000;
const NEWEST = 500;
/** Maximum difference of two zones (UTC-12 to UTC+14). */
const MAX_ZONE_DIFFERENCE_MS = 26 * 3_600_000;

/** The consequences if the account may not read the history. */
export const MISSING_HISTORY_EFFECTS =
  'Without the history each run reads everything, cards of objects that are deleted in iTop remain, newest_wins treats the change in iTop as the older one, and a new object whose response is lost is not looked up.';

/** How the times of the history compare with the current time, by the configured zone. */
interface Lag {
  /** An entry is in the future: iTop writes its times in another zone. */
  isAhead: boolean;
  /**
   * The maximum age of the newest entry in milliseconds; `FARTHEST_MS` if none was found. The history lags behind by no
   * more: the newest entry was written now at the latest.
   */
  ageMs: number;
}

/** Times of changes by the ids of objects, RFC 3339 by the remote's clock. */
export type ChangeTimes = Map<string, string>;

export interface History {
  /** Objects that were created or changed since a time, a range of entries at a time. */
  readChanges(request: {
    since: string;
    overlapMs: number;
    classes: readonly string[];
    limit: number;
    position: RangePosition;
  }): Promise<{ times: ChangeTimes; next: RangePosition | null }>;
  /** When these objects were last changed, if within `recentMs`. */
  readRecentTimes(objects: readonly ItopObject[]): Promise<ChangeTimes>;
  /** Those of these objects that were deleted. */
  findDeleted(ids: readonly string[], keys: readonly number[]): Promise<ChangeTimes>;
  /** All objects that were deleted since a time. */
  readDeleted(since: string): Promise<ChangeTimes>;
  /** The objects of exactly this class that were created with a comment. */
  findCreated(className: string, comment: string): Promise<{ class: string; key: number }[]>;
  readLag(): Promise<Lag>;
  /** The remote's current time in milliseconds, estimated from its responses. */
  now(): number;
}

function wrongZoneError(timeZone: string): RemoteError {
  const what = `The history has times in the future; the connection's time_zone ${timeZone} is not that of iTop`;
  return new RemoteError('refused', 'class CMDBChangeOp', what);
}

const recentChanges = (objects: readonly ItopObject[], since: string): Query => ({
  class: 'CMDBChangeOp',
  conditions: [
    inList('objclass', [...new Set(objects.map(({ class: className }) => className))]),
    inList(
      'objkey',
      objects.map(({ key }) => Number(key)),
    ),
    since,
  ],
  fields: 'objclass,objkey,date',
  limit: ENTRIES_AT_ONCE,
  doing: 'Reading times of changes',
});

/** Reads the service's history of changes: `CMDBChangeOp` and its subclasses. */
export function createHistory(
  transport: ItopTransport,
  { timeZone, recentMs }: Pick<ItopConfig, 'timeZone' | 'recentMs'>,
): History {
  const now = (): number => transport.clock.now() + (transport.clockAheadMs() ?? 0);
  const from = (ms: number): string => `date >= ${quote(earliestLocalTime(ms, timeZone))}`;
  const timeOf = ({ fields }: ItopObject): number => fromLocal(String(fields.date ?? ''), timeZone);

  /** The latest time of each object. */
  const timesOf = (entries: readonly ItopObject[], classField: string): ChangeTimes => {
    const times: ChangeTimes = new Map();
    for (const entry of entries) {
      const ms = timeOf(entry);
      if (Number.isNaN(ms)) continue;
      if (ms > now() + AHEAD_MS) throw wrongZoneError(timeZone);
      const { fields } = entry;
      const id = remoteId(String(fields[classField] ?? ''), String(fields.objkey ?? ''));
      // the remote's clock is known to a second
      const at = new Date(Math.min(ms, now() + 1_000)).toISOString();
      if ((times.get(id) ?? '') < at) times.set(id, at);
    }
    return times;
  };

  const readRecentTimes: History['readRecentTimes'] = async (objects) => {
    if (objects.length === 0) return new Map();
    const { objects: entries, found } = await transport.get(recentChanges(objects, from(now() - recentMs)));
    if (found <= entries.length || objects.length === 1) return timesOf(entries, 'objclass');
    const middle = Math.ceil(objects.length / 2);
    return new Map([
      ...(await readRecentTimes(objects.slice(0, middle))),
      ...(await readRecentTimes(objects.slice(middle))),
    ]);
  };

  let cachedLag: Lag | undefined;
  const readLag: History['readLag'] = async () => {
    if (cachedLag) return cachedLag;
    const { objects } = await transport.get({
      class: 'CMDBChangeOp',
      conditions: [from(now() - NEWEST_MS)],
      fields: 'date',
      limit: NEWEST,
      doing: 'Reading the newest changes',
    });
    const times = objects.map(timeOf).filter((ms) => !Number.isNaN(ms));
    const newest = Math.max(...times);
    const ageMs = times.length === 0 ? MAX_ZONE_DIFFERENCE_MS : Math.max(0, now() - newest);
    cachedLag = { isAhead: newest > now() + AHEAD_MS, ageMs };
    return cachedLag;
  };

  /**
   * The condition for all entries that were stored since a time: a history that lags behind, as with a wrong zone, is read
   * from as much earlier as it can lag.
   */
  const storedSince = async (since: string, overlapMs: number): Promise<string> => {
    const { isAhead, ageMs } = await readLag();
    if (isAhead) throw wrongZoneError(timeZone);
    return from(Date.parse(since) - overlapMs - ageMs);
  };

  return {
    now,
    readLag,
    readRecentTimes,
    async readChanges({ since, overlapMs, classes, limit, position }) {
      const request = {
        class: 'CMDBChangeOp',
        conditions: [
          await storedSince(since, overlapMs),
          classes.length > 0 ? inList('objclass', classes) : '',
        ],
        fields: 'objclass,objkey,date',
        limit,
        doing: 'Reading changes',
      };
      const { objects, next } = await readRange(transport, request, position);
      // an entry of a deletion names the root class, and there is no object to read
      const alive = objects.filter(({ class: className }) => className !== 'CMDBChangeOpDelete');
      return { times: timesOf(alive, 'objclass'), next };
    },

    async findDeleted(ids, keys) {
      const { objects } = await transport.get({
        class: 'CMDBChangeOpDelete',
        conditions: [inList('objkey', keys)],
        fields: 'fclass,objkey,date',
        limit: ENTRIES_AT_ONCE,
        doing: 'Reading deletions',
      });
      const wanted = new Set(ids);
      return new Map([...timesOf(objects, 'fclass')].filter(([id]) => wanted.has(id)));
    },

    async readDeleted(since) {
      const request = {
        class: 'CMDBChangeOpDelete',
        conditions: [await storedSince(since, OVERLAP_MS)],
        fields: 'fclass,objkey,date',
        limit: ENTRIES_AT_ONCE,
        doing: 'Reading deletions',
      };
      const times: ChangeTimes = new Map();
      const pages = pagesOf((position: RangePosition | null) =>
        readRange(transport, request, position ?? startPosition),
      );
      for await (const { objects } of pages) {
        for (const [id, at] of timesOf(objects, 'fclass')) times.set(id, at);
      }
      return times;
    },

    async findCreated(className, comment) {
      const { objects } = await transport.get({
        class: 'CMDBChangeOpCreate',
        // entries are indexed by class
        conditions: [`objclass = ${quote(className)}`, `userinfo = ${quote(comment)}`],
        fields: 'objclass,objkey,date',
        limit: ENTRIES_AT_ONCE,
        doing: 'Looking up created objects',
      });
      return objects.map(({ fields }) => ({ class: String(fields.objclass), key: Number(fields.objkey) }));
    },
  };
}

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

/** By time zone; creating one is slow, and each needs some 20 KB. */
const formatters = createLru<Intl.DateTimeFormat>(2 * 1024 * 1024, () => 20_000);

function formatter(timeZone: string): Intl.DateTimeFormat {
  let cached = formatters.get(timeZone);
  if (!cached) {
    cached = new Intl.DateTimeFormat('en', {
      timeZone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    });
    formatters.set(timeZone, cached);
  }
  return cached;
}

/** How far a zone is ahead of UTC at a time, in milliseconds. */
function offsetAt(ms: number, timeZone: string): number {
  const parts = formatter(timeZone)
    .formatToParts(ms)
    .map(({ type, value }) => [type, Number(value)]);
  const part = Object.fromEntries(parts);
  const local = Date.UTC(part.year!, part.month! - 1, part.day!, part.hour!, part.minute!, part.second!);
  return local - Math.floor(ms / 1000) * 1000;
}

const text = (localMs: number): string => new Date(localMs).toISOString().slice(0, 19).replace('T', ' ');

/** The local time of a zone: `2026-01-31 23:59:59`. */
export const toLocal = (ms: number, timeZone: string): string => text(ms + offsetAt(ms, timeZone));

const BACK_MS = 3 * 3_600_000;

/** The earliest local time that the zone's clocks show from a time on, also if they are set back soon after it. */
export function earliestLocalTime(ms: number, timeZone: string): string {
  return text(ms + Math.min(offsetAt(ms, timeZone), offsetAt(ms + BACK_MS, timeZone)));
}

/** The time of a local time in milliseconds, the earlier one if it is ambiguous; NaN if it is invalid. */
export function fromLocal(local: string, timeZone: string): number {
  const asUtc = Date.parse(`${local.replace(' ', 'T')}Z`);
  if (Number.isNaN(asUtc)) return Number.NaN;
  const day = 24 * 3_600_000;
  const candidates = [asUtc - day, asUtc + day].map((around) => asUtc - offsetAt(around, timeZone));
  const fitting = candidates.filter((ms) => ms + offsetAt(ms, timeZone) === asUtc);
  return Math.min(...(fitting.length > 0 ? fitting : candidates));
}
