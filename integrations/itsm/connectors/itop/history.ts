import { done, failed, type Result } from '../../remote.failures.ts';
import type { ItopConfig } from './config.ts';
import { remoteId } from './keys.ts';
import { inList, quote, select } from './oql.ts';
import { type Place, readRange, start } from './ranges.ts';
import { fromLocal, notBefore } from './times.ts';
import type { Shown, Transport } from './transport.ts';

/**
 * How much before a moment a reading begins. An entry bears the time of its change, which for an import or a synchronisation
 * over there is that of its beginning, while entries are stored until its end.
 */
export const OVERLAP_MS = 2 * 3_600_000;
/** Entries of the history that one look at some objects takes. */
const LOOK = 2_000;
/** A history that is further ahead than clocks differ is told in another zone. */
const AHEAD_MS = 10 * 60_000;
/** How far back entries are looked for that tell how old the newest is. */
const NEWEST_MS = 2 * 3_600_000;
const NEWEST = 500;
/** Zones differ by no more than that (UTC-12 to UTC+14). */
const FARTHEST_MS = 26 * 3_600_000;

/** What it costs that the account may not read the history. */
export const WITHOUT_HISTORY =
  'Without the history each run reads everything, objects that are deleted in iTop keep their cards, the rule newest_wins takes a change in iTop for the older one, and a new object whose answer is lost waits for a person.';

/** How the times of the history stand to the present, by the zone that was set. */
interface Pace {
  /** An entry is of a time to come: iTop writes its times in another zone. */
  ahead: boolean;
  /**
   * How old the newest entry is at most, in milliseconds; `FARTHEST_MS` where it was not found. The history lags behind by no more:
   * the newest entry was written now at the latest.
   */
  ageMs: number;
}

/** What the history tells of objects, by their ids. */
export type Moments = Map<string, string>;

export interface History {
  /** Objects that were made or changed since a moment, a range of entries at a time; RFC 3339 by the remote's clock. */
  changes(request: {
    since: string;
    overlapMs: number;
    classes: readonly string[];
    limit: number;
    place: Place;
  }): Promise<Result<{ moments: Moments; next: Place | null }>>;
  /** When these objects were last changed, as far as that is recent. */
  recent(objects: readonly Shown[]): Promise<Result<Moments>>;
  /** Of these objects those that were deleted. */
  deletedOf(ids: readonly string[], keys: readonly number[]): Promise<Result<Moments>>;
  /** All that was deleted since a moment. */
  deletedSince(since: string): Promise<Result<Moments>>;
  /** The objects of just this class that were made under a comment. */
  madeUnder(className: string, comment: string): Promise<Result<{ class: string; key: number }[]>>;
  pace(): Promise<Result<Pace>>;
  /** The remote's own time in milliseconds, as far as its answers have told it. */
  now(): number;
}

/** Reads what the service keeps of every change: `CMDBChangeOp` and the classes below it. */
export function createHistory(
  transport: Transport,
  { timeZone, recentMs }: Pick<ItopConfig, 'timeZone' | 'recentMs'>,
  clock: { now(): number },
): History {
  const now = (): number => clock.now() + (transport.clockAheadMs() ?? 0);
  const from = (ms: number): string => `date >= ${quote(notBefore(ms, timeZone))}`;

  const wrongZone = () => {
    const what = `The history tells times to come; the connection's time_zone ${timeZone} is not that of iTop`;
    return failed('refused', 'class CMDBChangeOp', what);
  };

  /** Of each object the latest moment. */
  const momentsOf = (entries: readonly Shown[], classField: string): Result<Moments> => {
    const moments: Moments = new Map();
    for (const { fields } of entries) {
      const ms = fromLocal(String(fields.date ?? ''), timeZone);
      if (Number.isNaN(ms)) continue;
      if (ms > now() + AHEAD_MS) return wrongZone();
      const id = remoteId(String(fields[classField] ?? ''), String(fields.objkey ?? ''));
      // its clock is known to a second
      const at = new Date(Math.min(ms, now() + 1_000)).toISOString();
      if ((moments.get(id) ?? '') < at) moments.set(id, at);
    }
    return done(moments);
  };

  const look = async (
    className: string,
    conditions: string[],
    fields: string,
    doing: string,
    limit = LOOK,
  ): Promise<Result<{ objects: Shown[]; found: number }>> => {
    const asked = await transport.ask({
      doing,
      isRead: true,
      operation: () => ({
        operation: 'core/get',
        class: className,
        key: select(className, conditions),
        output_fields: fields,
        limit,
        page: 1,
      }),
    });
    return asked.ok ? done(asked.value) : asked;
  };

  const recent: History['recent'] = async (objects) => {
    if (objects.length === 0) return done(new Map());
    const conditions = [
      inList('objclass', [...new Set(objects.map(({ class: className }) => className))]),
      inList(
        'objkey',
        objects.map(({ key }) => Number(key)),
      ),
      from(now() - recentMs),
    ];
    const looked = await look(
      'CMDBChangeOp',
      conditions,
      'objclass,objkey,date',
      'Reading when objects changed',
    );
    if (!looked.ok) return looked;
    const { objects: entries, found } = looked.value;
    if (found <= entries.length || objects.length === 1) return momentsOf(entries, 'objclass');
    const middle = Math.ceil(objects.length / 2);
    const halves = [await recent(objects.slice(0, middle)), await recent(objects.slice(middle))];
    const moments: Moments = new Map();
    for (const half of halves) {
      if (!half.ok) return half;
      for (const [id, at] of half.value) moments.set(id, at);
    }
    return done(moments);
  };

  const rangeOf = async (
    className: string,
    fields: string,
    request: { conditions: string[]; limit: number; place: Place; doing: string },
  ): Promise<Result<{ entries: Shown[]; next: Place | null }>> => {
    const { conditions, limit, place, doing } = request;
    const range = await readRange(transport, { class: className, conditions, fields, limit, doing }, place);
    return range.ok ? done({ entries: range.value.objects, next: range.value.next }) : range;
  };

  let known: Pace | undefined;
  const pace: History['pace'] = async () => {
    if (known) return done(known);
    const looked = await look(
      'CMDBChangeOp',
      [from(now() - NEWEST_MS)],
      'date',
      'Reading the newest changes',
      NEWEST,
    );
    if (!looked.ok) return looked;
    const moments = looked.value.objects
      .map(({ fields }) => fromLocal(String(fields.date ?? ''), timeZone))
      .filter((ms) => !Number.isNaN(ms));
    const newest = Math.max(...moments);
    known = {
      ahead: newest > now() + AHEAD_MS,
      ageMs: moments.length === 0 ? FARTHEST_MS : Math.max(0, now() - newest),
    };
    return done(known);
  };

  /**
   * From when on entries are read so that none is missed that was stored since a moment: a history whose times lag behind, as
   * with a wrong zone, is read from as much earlier as it can lag.
   */
  const begin = async (since: string, overlapMs: number): Promise<Result<string>> => {
    const stands = await pace();
    if (!stands.ok) return stands;
    if (stands.value.ahead) return wrongZone();
    return done(from(Date.parse(since) - overlapMs - stands.value.ageMs));
  };

  return {
    now,
    pace,
    recent,
    async changes({ since, overlapMs, classes, limit, place }) {
      const began = await begin(since, overlapMs);
      if (!began.ok) return began;
      const range = await rangeOf('CMDBChangeOp', 'objclass,objkey,date', {
        conditions: [began.value, classes.length > 0 ? inList('objclass', classes) : ''],
        limit,
        place,
        doing: 'Reading what changed',
      });
      if (!range.ok) return range;
      const { entries, next } = range.value;
      // an entry of a deletion names the root class, and there is nothing to read
      const alive = entries.filter(({ class: className }) => className !== 'CMDBChangeOpDelete');
      const moments = momentsOf(alive, 'objclass');
      return moments.ok ? done({ moments: moments.value, next }) : moments;
    },

    async deletedOf(ids, keys) {
      const conditions = [inList('objkey', keys)];
      const looked = await look(
        'CMDBChangeOpDelete',
        conditions,
        'fclass,objkey,date',
        'Reading what was deleted',
      );
      if (!looked.ok) return looked;
      const moments = momentsOf(looked.value.objects, 'fclass');
      if (!moments.ok) return moments;
      const wanted = new Set(ids);
      return done(new Map([...moments.value].filter(([id]) => wanted.has(id))));
    },

    async deletedSince(since) {
      const moments: Moments = new Map();
      const began = await begin(since, OVERLAP_MS);
      if (!began.ok) return began;
      const conditions = [began.value];
      for (let place: Place | null = start; place; ) {
        const range = await rangeOf('CMDBChangeOpDelete', 'fclass,objkey,date', {
          conditions,
          limit: LOOK,
          place,
          doing: 'Reading what was deleted',
        });
        if (!range.ok) return range;
        const found = momentsOf(range.value.entries, 'fclass');
        if (!found.ok) return found;
        for (const [id, at] of found.value) moments.set(id, at);
        place = range.value.next;
      }
      return done(moments);
    },

    async madeUnder(className, comment) {
      const looked = await look(
        'CMDBChangeOpCreate',
        // entries are indexed by class
        [`objclass = ${quote(className)}`, `userinfo = ${quote(comment)}`],
        'objclass,objkey,date',
        'Looking up what was made',
      );
      if (!looked.ok) return looked;
      return done(
        looked.value.objects.map(({ fields }) => ({
          class: String(fields.objclass),
          key: Number(fields.objkey),
        })),
      );
    },
  };
}
