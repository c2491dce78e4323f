import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { DeltaRequest, Page, ReadRequest, RemoteLook } from '../connector.ts';
import type { Description } from './description.ts';
import { type History, type Moments, OVERLAP_MS } from './history.ts';
import { remoteId, splitId } from './keys.ts';
import { faultOf, inList, select } from './oql.ts';
import { type Place, readRange, start } from './ranges.ts';
import { longAgo, outputFields, recordOf } from './records.ts';
import type { Shown, Transport } from './transport.ts';

/** Objects of one direct look. */
const LOOKS = 200;

const placeOf = (cursor: string | null): Place => (cursor === null ? start : (JSON.parse(cursor) as Place));
const cursorOf = (place: Place | null): string | null => (place === null ? null : JSON.stringify(place));

/** Objects of a class as they are read, whatever is made of them. */
interface ClassRequest {
  class: string;
  /** For `output_fields`. */
  fields: string;
  filter?: string;
  limit: number;
  cursor: string | null;
}

interface ClassPage {
  objects: Shown[];
  next: string | null;
  moments: Moments;
}

export interface Reading {
  readPage(request: ReadRequest): Promise<Result<Page>>;
  readSince(request: DeltaRequest): Promise<Result<Page>>;
  readByIds(table: string, ids: string[], fields: string[]): Promise<Result<Map<string, RemoteLook>>>;
  newestChange(table: string, filter?: string): Promise<Result<string | null>>;
  /** All objects of a class, page by page. */
  readClass(request: ClassRequest): Promise<Result<ClassPage>>;
  /** Those that were made or changed since a moment. */
  readChanged(
    request: ClassRequest & { since: string; overlapMs?: number; classes?: readonly string[] },
  ): Promise<Result<ClassPage>>;
  /** How many objects of a class the account sees that fit the conditions. */
  count(className: string, conditions?: readonly string[]): Promise<Result<number>>;
}

export function createReading(transport: Transport, description: Description, history: History): Reading {
  const conditionOf = (table: string, filter: string | undefined): Result<string> => {
    const fault = filter ? faultOf(filter) : undefined;
    return fault ? failed('refused', `class ${table}`, `The filter ${fault}`) : done(filter ?? '');
  };

  const get = async (
    className: string,
    conditions: readonly string[],
    fields: string,
    limit: number,
    doing = `Reading ${className}`,
  ) =>
    transport.ask({
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

  const readClass: Reading['readClass'] = async ({ class: className, fields, filter, limit, cursor }) => {
    const condition = conditionOf(className, filter);
    if (!condition.ok) return condition;
    const range = await readRange(
      transport,
      { class: className, conditions: [condition.value], fields, limit, doing: `Reading ${className}` },
      placeOf(cursor),
    );
    if (!range.ok) return range;
    const { objects, next } = range.value;
    return done({ objects, next: cursorOf(next), moments: new Map() });
  };

  const readChanged: Reading['readChanged'] = async (request) => {
    const { class: className, fields, filter, limit, cursor, since } = request;
    const condition = conditionOf(className, filter);
    if (!condition.ok) return condition;
    const changed = await history.changes({
      since,
      overlapMs: request.overlapMs ?? OVERLAP_MS,
      classes: request.classes ?? [],
      limit,
      place: placeOf(cursor),
    });
    if (!changed.ok) return changed;
    const { moments, next } = changed.value;
    const page = (objects: Shown[]): Result<ClassPage> => done({ objects, next: cursorOf(next), moments });
    // the history is that of all classes, and keys are those of each root class: the own class of what is found decides
    const keys = [...new Set([...moments.keys()].flatMap((id) => splitId(id)?.key ?? []))];
    if (keys.length === 0) return page([]);
    const read = await get(className, [condition.value, inList('id', keys)], fields, 0);
    if (!read.ok) return read;
    const { objects } = read.value;
    return page(objects.filter((object) => moments.has(remoteId(object.class, object.key))));
  };

  /** What the attributes are read by; all of them while nothing is known of the class. */
  const fieldsOf = async (table: string, fields: readonly string[]): Promise<Result<string>> => {
    const columns = await description.columnsOf(table);
    if (!columns.ok) return columns;
    return done(columns.value.size === 0 ? '*' : outputFields(fields, columns.value));
  };

  const pageOf = (request: ReadRequest, { objects, next, moments }: ClassPage): Page => ({
    records: objects.map((object) =>
      recordOf(request.table, object, request.fields, moments.get(remoteId(object.class, object.key))),
    ),
    next,
    // objects of organisations that the account may not see are passed over in silence; a look at one tells them apart
    withheld: false,
  });

  const byChange = (a: RemoteRecord, b: RemoteRecord): number =>
    a.updatedAt < b.updatedAt ? -1 : a.updatedAt > b.updatedAt ? 1 : 0;

  const readPage: Reading['readPage'] = async (request) => {
    const fields = await fieldsOf(request.table, request.fields);
    if (!fields.ok) return fields;
    const { table, filter, limit, cursor } = request;
    const page = await readClass({
      class: table,
      fields: fields.value,
      limit,
      cursor,
      ...(filter === undefined ? {} : { filter }),
    });
    if (!page.ok) return page;
    const moments = await history.recent(page.value.objects);
    // without the history no change is known to be newer than one here
    if (!moments.ok && moments.failure.code !== 'forbidden') return moments;
    return done(pageOf(request, { ...page.value, moments: moments.ok ? moments.value : new Map() }));
  };

  return {
    readClass,
    readChanged,

    readPage,

    async readSince(request) {
      if (request.since === null) return readPage(request);
      const fields = await fieldsOf(request.table, request.fields);
      if (!fields.ok) return fields;
      const { table, filter, limit, cursor, since, overlapMs } = request;
      const page = await readChanged({
        class: table,
        fields: fields.value,
        limit,
        cursor,
        since,
        ...(filter === undefined ? {} : { filter }),
        ...(overlapMs === undefined ? {} : { overlapMs }),
      });
      if (!page.ok) return page;
      const { records, ...rest } = pageOf(request, page.value);
      return done({ records: records.sort(byChange), ...rest });
    },

    async readByIds(table, ids, fields) {
      const looks = new Map<string, RemoteLook>();
      const output = await fieldsOf(table, fields);
      if (!output.ok) return output;
      const wanted = [...new Set(ids)].flatMap((id) => {
        const key = splitId(id)?.key;
        // what cannot be one of its keys is nowhere
        if (key === undefined) looks.set(id, { kind: 'gone' });
        return key === undefined ? [] : [{ id, key }];
      });
      for (let from = 0; from < wanted.length; from += LOOKS) {
        const some = wanted.slice(from, from + LOOKS);
        const keys = some.map(({ key }) => key);
        const read = await get(table, [inList('id', keys)], output.value, 0);
        if (!read.ok) return read;
        const objects = new Map(
          read.value.objects.map((object) => [remoteId(object.class, object.key), object]),
        );
        const there = some.flatMap(({ id }) => objects.get(id) ?? []);
        const moments = await history.recent(there);
        if (!moments.ok && moments.failure.code !== 'forbidden') return moments;
        for (const object of there) {
          const id = remoteId(object.class, object.key);
          const updatedAt = moments.ok ? (moments.value.get(id) ?? longAgo) : longAgo;
          looks.set(id, { kind: 'there', record: recordOf(table, object, fields, updatedAt) });
        }
        const missing = some.filter(({ id }) => !looks.has(id));
        if (missing.length === 0) continue;
        const deleted = await history.deletedOf(
          missing.map(({ id }) => id),
          missing.map(({ key }) => key),
        );
        if (!deleted.ok && deleted.failure.code !== 'forbidden') return deleted;
        // what is not shown may belong to an organisation that the account does not see: the history alone is sure
        for (const { id } of missing) {
          looks.set(id, { kind: deleted.ok && deleted.value.has(id) ? 'gone' : 'unknown' });
        }
      }
      return done(looks);
    },

    async newestChange(table, filter) {
      const condition = conditionOf(table, filter);
      if (!condition.ok) return condition;
      const counted = await get(table, [condition.value], 'id', 1, `Asking when ${table} last changed`);
      if (!counted.ok) return counted;
      // the history has no order to ask for its last entry: no change that is seen now can be newer than now
      if (counted.value.found === 0) return done(null);
      return done(new Date(Math.floor(history.now() / 1000) * 1000).toISOString());
    },

    async count(className, conditions = []) {
      const counted = await get(className, conditions, 'id', 1);
      return counted.ok ? done(counted.value.found) : counted;
    },
  };
}
