import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { Connector, RemoteColumn, RemoteValues } from '../connector.ts';
import type { Surely } from '../surely.ts';
import { type Api, columnsOf, pathOf } from './api.ts';
import type { NetBoxConfig } from './config.ts';
import type { Description } from './description.ts';
import { isTable, keyOf } from './ids.ts';
import type { Reading } from './reading.ts';
import { listOf, recordOf, timeSeen, valueAt } from './records.ts';

export type Writing = Pick<Connector, 'create' | 'findCreated' | 'update' | 'delete'>;

export function createWriting(
  api: Api,
  reading: Pick<Reading, 'lookAt' | 'standOf'>,
  description: Pick<Description, 'columns'>,
  surely: Surely,
  config: Pick<NetBoxConfig, 'correlationField'>,
): Writing {
  const marker = `custom_fields.${config.correlationField}`;
  const noId = (table: string, id: string) =>
    failed('not_found', `table ${table}`, `${id} is no object of ${table}`);
  /** Has NetBox write only while the object is what it was; older ones, that know no versions, are looked at once more. */
  const ifMatch = async (
    table: string,
    key: number,
    version: string | undefined,
  ): Promise<Result<Record<string, string>>> => {
    if (version === undefined) return done({});
    const seen = timeSeen(version);
    if (seen === undefined) return done({ 'if-match': version });
    const stand = await reading.standOf(table, key);
    if (!stand.ok) return stand;
    const where = pathOf(table, key);
    if (stand.value === null) return failed('not_found', where, `The object of ${table} is gone`);
    if (stand.value.changed !== seen)
      return failed('changed_meanwhile', where, `The object of ${table} was changed since it was looked at`);
    const headers: Record<string, string> = {};
    if (stand.value.version !== undefined) headers['if-match'] = stand.value.version;
    return done(headers);
  };
  const answerWith = (fields: string[]) => () => ({ fields: columnsOf(fields).join(',') });

  /** Values in the form in which NetBox takes them. */
  const bodyOf = async (table: string, values: RemoteValues): Promise<Result<Record<string, unknown>>> => {
    const columns = await description.columns(table);
    if (!columns.ok) return columns;
    const body: Record<string, unknown> = {};
    for (const [path, value] of Object.entries(values)) {
      const [first = '', inner, more] = path.split('.');
      if (inner === undefined) body[first] = written(columns.value.get(path), value);
      else if (first === 'custom_fields' && more === undefined) {
        const custom = (body.custom_fields ?? {}) as Record<string, unknown>;
        const held = written(columns.value.get(path), value);
        body.custom_fields = { ...custom, [inner]: held === '' ? null : held };
      } else
        return failed('refused', `table ${table}`, `${path} is of another object, and is not written here`);
    }
    return done(body);
  };

  const recordFrom =
    (table: string, fields: string[]) =>
    (result: unknown, headers: Record<string, string>): Result<RemoteRecord> => {
      const record = recordOf(table, result, fields, headers.etag);
      return record
        ? done(record)
        : failed('answer_lost', `table ${table}`, 'The answer to the write shows no object');
    };

  const findCreated = async (
    table: string,
    correlation: string,
    fields: string[],
  ): Promise<Result<RemoteRecord | null>> => {
    // an empty value would find every object that nobody made
    if (correlation === '') throw new Error('a correlation id must not be empty');
    const listed = await api.list(
      table,
      (pageSize) =>
        new URLSearchParams({
          [`cf_${config.correlationField}`]: correlation,
          ordering: 'id',
          limit: String(pageSize),
          fields: columnsOf([marker, ...fields]).join(','),
        }),
      10,
      `Looking up an object of ${table}`,
    );
    if (!listed.ok) return listed;
    const { rows } = listed.value;
    const marks = rows.map((row) => valueAt(row, marker));
    // a condition on a custom field that is not there is passed over; one that is loose finds longer texts too
    if (marks.some((mark) => typeof mark !== 'string' || !mark.includes(correlation))) {
      const what = `The objects of ${table} cannot be looked up by the custom field ${config.correlationField}: it is missing there, or its filter is disabled`;
      return failed('refused', `table ${table}`, what);
    }
    const own = rows.filter((_, at) => marks[at] === correlation);
    if (own.length > 1)
      return failed('ambiguous', `table ${table}`, `Several objects of ${table} have the same ${marker}`);
    return done(recordOf(table, own[0], fields) ?? null);
  };

  return {
    findCreated: (table, correlation) => findCreated(table, correlation, []),
    async create(table, values, correlation) {
      const fields = Object.keys(values);
      const body = await bodyOf(table, { ...values, [marker]: correlation });
      if (!body.ok) return body;
      const made = await surely(
        {
          method: 'POST',
          path: pathOf(table),
          doing: `Creating an object of ${table}`,
          query: answerWith(fields),
          body: body.value,
        },
        () => findCreated(table, correlation, fields),
        recordFrom(table, fields),
      );
      return made.ok ? done({ record: made.value.value, recovered: made.value.recovered }) : made;
    },
    async update(table, id, values, version) {
      const key = keyOf(table, id);
      if (key === undefined || !isTable(table)) return noId(table, id);
      const fields = Object.keys(values);
      const body = await bodyOf(table, values);
      if (!body.ok) return body;
      const headers = await ifMatch(table, key, version);
      if (!headers.ok) return headers;
      const changed = await surely<RemoteRecord>(
        {
          method: 'PATCH',
          path: pathOf(table, key),
          doing: `Changing an object of ${table}`,
          query: answerWith(fields),
          headers: headers.value,
          body: body.value,
        },
        async () => {
          const looked = await reading.lookAt(table, key, fields);
          if (!looked.ok) return looked;
          if (looked.value === null) return failed('not_found', pathOf(table, key), `${id} is gone`);
          const record = looked.value;
          const stands = fields.every(
            (name) => textOf(record.fields[name]?.value) === textOf(values[name] ?? null),
          );
          return done(stands ? record : null);
        },
        recordFrom(table, fields),
      );
      return changed.ok ? done({ record: changed.value.value, recovered: changed.value.recovered }) : changed;
    },
    async delete(table, id, version) {
      const key = keyOf(table, id);
      if (key === undefined || !isTable(table)) return noId(table, id);
      const headers = await ifMatch(table, key, version);
      if (!headers.ok) return headers.failure.code === 'not_found' ? done(false) : headers;
      const removed = await surely<boolean>(
        {
          method: 'DELETE',
          path: pathOf(table, key),
          doing: `Deleting an object of ${table}`,
          headers: headers.value,
        },
        async () => {
          const looked = await reading.lookAt(table, key, []);
          return looked.ok ? done(looked.value === null ? true : null) : looked;
        },
        () => done(true),
      );
      if (removed.ok) return done(removed.value.value);
      return removed.failure.code === 'not_found' ? done(false) : removed;
    },
  };
}

const textOf = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);

/** A value as its column takes it. */
function written(column: RemoteColumn | undefined, value: RemoteValues[string]): unknown {
  if (column?.remoteKind === 'multiobject' || column?.name === 'tags' || column?.remoteKind === 'list') {
    const parts = value === null ? [] : listOf(String(value));
    return column.name === 'tags' ? parts.map((slug) => ({ slug })) : parts;
  }
  if (column?.remoteKind === 'multiselect') return value === null ? null : listOf(String(value));
  // texts of NetBox itself are empty, never null
  if (value === null) return column?.kind === 'text' && column.choices.length === 0 ? '' : null;
  if (column?.kind !== 'reference') return value;
  const [, key] = /\/(\d+)$/.exec(String(value)) ?? [];
  return key === undefined ? value : Number(key);
}
