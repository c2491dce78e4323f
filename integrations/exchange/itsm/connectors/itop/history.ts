import { RemoteError } from '../../remote.ts';
import { pagesOf } from '../responses.ts';
import type { ItopConfig } from './config.ts';
import { inList, quote } from './oql.ts';
import { type RangePosition, readRange, startPosition } from './ranges.ts';
import { remoteId } from './records.ts';
import { earliestLocalTime, fromLocal } from './times.ts';
import type { ItopObject, ItopTransport, Query } from './transport.ts';

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
    const request = recentChanges(objects, from(now() - recentMs));
    const { objects: entries, found } = await transport.get(request);
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
    cachedLag = {
      isAhead: newest > now() + AHEAD_MS,
      ageMs: times.length === 0 ? MAX_ZONE_DIFFERENCE_MS : Math.max(0, now() - newest),
    };
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
