import { chunksOf } from '../../../../../platform/chunks.ts';
import { type RecordLookup, RemoteError, withFallback } from '../../remote.ts';
import type { Connector, Page, ReadRequest } from '../connector.ts';
import type { Description } from './description.ts';
import {
  type ChangeTimes,
  type History,
  OVERLAP_MS,
  type RangePosition,
  readRange,
  startPosition,
} from './history.ts';
import { outputFields, recordOf, remoteId, splitId, UNKNOWN_TIME } from './records.ts';
import { findFilterProblem, type ItopObject, type ItopTransport, inList, type Query } from './transport.ts';

/** Number of objects in one lookup. */
const IDS_PER_REQUEST = 200;

const positionOf = (cursor: string | null): RangePosition =>
  cursor === null ? startPosition : (JSON.parse(cursor) as RangePosition);
const cursorOf = (position: RangePosition | null): string | null =>
  position === null ? null : JSON.stringify(position);
const idOf = (object: ItopObject): string => remoteId(object.class, object.key);

/** A read of objects of a class. */
interface ClassRequest {
  class: string;
  /** For `output_fields`. */
  fields: string;
  filter?: string;
  limit: number;
  cursor: string | null;
}

interface ClassPage {
  objects: ItopObject[];
  next: string | null;
  times: ChangeTimes;
}

export interface Reading extends Pick<Connector, 'readPage' | 'readSince' | 'readByIds'> {
  /** All objects of a class, page by page. */
  readClass(request: ClassRequest): Promise<ClassPage>;
  /** Objects that were created or changed since a time. */
  readChanged(
    request: ClassRequest & { since: string; overlapMs?: number; classes?: readonly string[] },
  ): Promise<ClassPage>;
  /** Number of objects of a class that the account sees. */
  count(className: string): Promise<number>;
}

function conditionOf(table: string, filter = ''): string {
  const problem = findFilterProblem(filter);
  if (problem) throw new RemoteError('refused', `class ${table}`, `The filter ${problem}`);
  return filter;
}

const keysOf = (items: readonly { key: number }[]): number[] => items.map(({ key }) => key);

const objectsByKey = (className: string, fields: string, keys: number[], condition = ''): Query => ({
  class: className,
  conditions: [condition, inList('id', keys)],
  fields,
  limit: 0,
  doing: `Reading ${className}`,
});

export function createReading(transport: ItopTransport, description: Description, history: History): Reading {
  const readClass: Reading['readClass'] = async ({ class: className, fields, filter, limit, cursor }) => {
    const conditions = [conditionOf(className, filter)];
    const request = { class: className, conditions, fields, limit, doing: `Reading ${className}` };
    const { objects, next } = await readRange(transport, request, positionOf(cursor));
    return { objects, next: cursorOf(next), times: new Map() };
  };

  const readChanged: Reading['readChanged'] = async (request) => {
    const { class: className, fields, filter, limit, cursor, since } = request;
    const condition = conditionOf(className, filter);
    const { overlapMs = OVERLAP_MS, classes = [] } = request;
    const position = positionOf(cursor);
    const changed = await history.readChanges({ since, overlapMs, classes, limit, position });
    const { times } = changed;
    const next = cursorOf(changed.next);
    // the history covers all classes, and keys are unique in each root class only: the class of the found object decides
    const keys = [...new Set([...times.keys()].flatMap((id) => splitId(id)?.key ?? []))];
    if (keys.length === 0) return { objects: [], next, times };
    const { objects } = await transport.get(objectsByKey(className, fields, keys, condition));
    return { objects: objects.filter((object) => times.has(idOf(object))), next, times };
  };

  const fieldsOf = async (table: string, fields: readonly string[]): Promise<string> =>
    outputFields(fields, await description.columnsOf(table));

  const classRequest = async ({ table, fields, filter, limit, cursor }: ReadRequest) => ({
    class: table,
    fields: await fieldsOf(table, fields),
    limit,
    cursor,
    filter,
  });

  const pageOf = (
    { table, fields }: ReadRequest,
    { objects, next }: ClassPage,
    times: ChangeTimes,
  ): Page => ({
    records: objects.map((object) => recordOf(table, object, fields, times.get(idOf(object)))),
    next,
    // objects of hidden organisations are silently omitted; only a lookup by key detects that
    hasHiddenRows: false,
  });

  /** Without the history no time is known, and no change counts as newer than one in the inventory. */
  const readTimes = (objects: ItopObject[]): Promise<ChangeTimes> =>
    withFallback(history.readRecentTimes(objects), ['forbidden'], new Map());

  const readPage: Reading['readPage'] = async (request) => {
    const page = await readClass(await classRequest(request));
    return pageOf(request, page, await readTimes(page.objects));
  };

  return {
    readClass,
    readChanged,

    readPage,

    async readSince(request) {
      const { since, overlapMs } = request;
      if (since === null) return await readPage(request);
      const delta = { since, ...(overlapMs === undefined ? {} : { overlapMs }) };
      const page = await readChanged({ ...(await classRequest(request)), ...delta });
      const { records, ...rest } = pageOf(request, page, page.times);
      const sorted = records.sort((a, b) =>
        a.updatedAt < b.updatedAt ? -1 : a.updatedAt > b.updatedAt ? 1 : 0,
      );
      return { records: sorted, ...rest };
    },

    async readByIds(table, ids, fields) {
      const lookups = new Map<string, RecordLookup>();
      const output = await fieldsOf(table, fields);
      const wanted = [...new Set(ids)].flatMap((id) => {
        const key = splitId(id)?.key;
        // an id of another form does not exist
        if (key === undefined) lookups.set(id, { kind: 'gone' });
        return key === undefined ? [] : [{ id, key }];
      });
      for (const some of chunksOf(wanted, IDS_PER_REQUEST)) {
        const found = await transport.get(objectsByKey(table, output, keysOf(some)));
        const objects = new Map(found.objects.map((object) => [idOf(object), object]));
        const existing = some.flatMap(({ id }) => objects.get(id) ?? []);
        const times = await readTimes(existing);
        for (const object of existing) {
          const id = idOf(object);
          const record = recordOf(table, object, fields, times.get(id) ?? UNKNOWN_TIME);
          lookups.set(id, { kind: 'there', record });
        }
        const missing = some.filter(({ id }) => !lookups.has(id));
        if (missing.length === 0) continue;
        const ids = missing.map(({ id }) => id);
        const deleted = history.findDeleted(ids, keysOf(missing));
        // a missing object may belong to a hidden organisation: only the history proves its deletion
        const gone: ChangeTimes = await withFallback(deleted, ['forbidden'], new Map());
        for (const { id } of missing) lookups.set(id, { kind: gone.has(id) ? 'gone' : 'unknown' });
      }
      return lookups;
    },

    async count(className) {
      const doing = `Reading ${className}`;
      return (await transport.get({ class: className, fields: 'id', limit: 1, doing })).found;
    },
  };
}
