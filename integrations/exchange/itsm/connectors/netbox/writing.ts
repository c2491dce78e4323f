import { RemoteError, type RemoteRecord, withFallback } from '../../remote.ts';
import type { Connector, RemoteColumn, RemoteValues } from '../connector.ts';
import { createSafeWrite, requireRecord } from '../safe-write.ts';
import type { Transport } from '../transport.ts';
import { type Api, fieldsParameter, type NetBoxConfig, pathOf } from './api.ts';
import type { Description } from './description.ts';
import type { Reading } from './reading.ts';
import { isTable, keyOf, listOf, recordOf, timeInVersion, valueAt } from './records.ts';

export type Writing = Pick<Connector, 'create' | 'findCreated' | 'update' | 'delete'>;

/** Values as the body of a write. */
function bodyFrom(
  table: string,
  columns: ReadonlyMap<string, RemoteColumn>,
  values: RemoteValues,
): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const [path, value] of Object.entries(values)) {
    const [first = '', inner, more] = path.split('.');
    if (inner === undefined) body[first] = serializeValue(columns.get(path), value);
    else if (first === 'custom_fields' && more === undefined) {
      const custom = (body.custom_fields ?? {}) as Record<string, unknown>;
      const text = serializeValue(columns.get(path), value);
      body.custom_fields = { ...custom, [inner]: text === '' ? null : text };
    } else throw refused(table, `${path} belongs to another object and cannot be written here`);
  }
  return body;
}

const recordFrom =
  (table: string, fields: string[]) =>
  (result: unknown, headers: Record<string, string>): RemoteRecord =>
    requireRecord(table, recordOf(table, result, fields, headers.etag));

export function createWriting(
  transport: Transport,
  { api, reading, description }: { api: Api; reading: Reading; description: Description },
  config: Pick<NetBoxConfig, 'correlationField' | 'settleMs'>,
): Writing {
  const safeWrite = createSafeWrite(transport, config.settleMs);
  const marker = `custom_fields.${config.correlationField}`;
  const keyIn = (table: string, id: string): number => {
    const key = keyOf(table, id);
    if (key !== undefined && isTable(table)) return key;
    throw new RemoteError('not_found', `table ${table}`, `${id} is not an object of ${table}`);
  };

  /** Headers for a conditional write. A version by time is compared here. */
  const ifMatch = async (
    table: string,
    key: number,
    version: string | undefined,
  ): Promise<Record<string, string>> => {
    if (version === undefined) return {};
    const changed = timeInVersion(version);
    if (changed === undefined) return { 'if-match': version };
    const now = await reading.versionOf(table, key);
    const where = pathOf(table, key);
    if (now === null) throw new RemoteError('not_found', where, `The object of ${table} is gone`);
    if (now.changed !== changed) {
      const what = `The object of ${table} was changed since it was read`;
      throw new RemoteError('changed_concurrently', where, what);
    }
    return now.version === undefined ? {} : { 'if-match': now.version };
  };
  const responseFields = (fields: string[]) => () => ({ fields: fieldsParameter(fields) });

  const bodyOf = async (table: string, values: RemoteValues) =>
    bodyFrom(table, await description.columns(table), values);

  const findCreated = async (
    table: string,
    correlation: string,
    fields: string[],
  ): Promise<RemoteRecord | null> => {
    // an empty value would find every object that was not created here
    if (correlation === '') throw new Error('a correlation id must not be empty');
    const { rows } = await api.list(
      table,
      {
        [`cf_${config.correlationField}`]: correlation,
        ordering: 'id',
        fields: fieldsParameter([marker, ...fields]),
      },
      { limit: 10, doing: `Looking up an object of ${table}` },
    );
    const markers = rows.map((row) => valueAt(row, marker));
    // NetBox ignores a condition on a missing custom field, and a loose filter also matches longer texts
    if (markers.some((value) => typeof value !== 'string' || !value.includes(correlation))) {
      const what = `The objects of ${table} cannot be looked up by the custom field ${config.correlationField}: it is missing, or its filter is disabled`;
      throw refused(table, what);
    }
    const own = rows.filter((_, at) => markers[at] === correlation);
    if (own.length > 1) {
      const what = `Several objects of ${table} have the same ${marker}`;
      throw new RemoteError('ambiguous', `table ${table}`, what);
    }
    return recordOf(table, own[0], fields) ?? null;
  };

  return {
    findCreated: (table, correlation) => findCreated(table, correlation, []),
    async create(table, values, correlation) {
      const fields = Object.keys(values);
      const body = await bodyOf(table, { ...values, [marker]: correlation });
      const { value: record, isRecovered } = await safeWrite(
        {
          method: 'POST',
          path: pathOf(table),
          doing: `Creating an object of ${table}`,
          query: responseFields(fields),
          body,
        },
        () => findCreated(table, correlation, fields),
        recordFrom(table, fields),
      );
      return { record, isRecovered };
    },
    async update(table, id, values, version) {
      const key = keyIn(table, id);
      const path = pathOf(table, key);
      const fields = Object.keys(values);
      const body = await bodyOf(table, values);
      const headers = await ifMatch(table, key, version);
      const doing = `Changing an object of ${table}`;
      const { value: record, isRecovered } = await safeWrite<RemoteRecord>(
        { method: 'PATCH', path, doing, query: responseFields(fields), headers, body },
        async () => {
          const found = await reading.readObject(table, key, fields);
          if (found === null) throw new RemoteError('not_found', path, `${id} is gone`);
          const isWritten = fields.every(
            (name) => textOf(found.fields[name]?.value) === textOf(values[name] ?? null),
          );
          return isWritten ? found : null;
        },
        recordFrom(table, fields),
      );
      return { record, isRecovered };
    },
    async delete(table, id, version) {
      const key = keyIn(table, id);
      const remove = async () => {
        const headers = await ifMatch(table, key, version);
        const removed = await safeWrite<boolean>(
          { method: 'DELETE', path: pathOf(table, key), doing: `Deleting an object of ${table}`, headers },
          async () => ((await reading.readObject(table, key, [])) === null ? true : null),
          () => true,
        );
        return removed.value;
      };
      return await withFallback(remove(), ['not_found'], false);
    },
  };
}

const refused = (table: string, what: string) => new RemoteError('refused', `table ${table}`, what);

const textOf = (value: unknown): string =>
  value === null || value === undefined
    ? ''
    : typeof value === 'object'
      ? JSON.stringify(value)
      : String(value);

/** A value as its column is written. */
function serializeValue(column: RemoteColumn | undefined, value: RemoteValues[string]): unknown {
  if (column?.remoteKind === 'multiobject' || column?.name === 'tags' || column?.remoteKind === 'list') {
    const parts = value === null ? [] : listOf(String(value));
    return column.name === 'tags' ? parts.map((slug) => ({ slug })) : parts;
  }
  if (column?.remoteKind === 'multiselect') return value === null ? null : listOf(String(value));
  // text columns of NetBox are empty, never null
  if (value === null) return column?.kind === 'text' && column.choices.length === 0 ? '' : null;
  if (column?.kind !== 'reference') return value;
  const [, key] = /\/(\d+)$/.exec(String(value)) ?? [];
  return key === undefined ? value : Number(key);
}
