import { isRemoteError, RemoteError, type RemoteRecord, withFallback } from '../../remote.ts';
import type { Connector, RemoteValues, WriteResult } from '../connector.ts';
import { recordIn } from '../responses.ts';
import { createSafeWrite, requireRecord, requireUnchanged, type SafeWriteResult } from '../safe-write.ts';
import type { Description } from './description.ts';
import type { History } from './history.ts';
import type { Reading } from './reading.ts';
import { linkTypeOf, outputFields, recordOf, remoteId, serializeValue, splitId } from './records.ts';
import { unknownTypeError } from './relations.ts';
import {
  type ItopConfig,
  type ItopResponse,
  type ItopTransport,
  type Operation,
  quote,
  readObjects,
} from './transport.ts';

/** The comment of changes in the history. */
const COMMENT = 'Estate';
const commentOf = (correlation: string): string => `${COMMENT} ${correlation}`;

export type Writing = Pick<
  Connector,
  'create' | 'findCreated' | 'update' | 'delete' | 'createRelation' | 'deleteRelation'
>;

type SafeWrite = <T>(
  write: { doing: string; operation: Operation },
  find: () => Promise<T | null>,
  read: (response: ItopResponse) => T,
) => Promise<SafeWriteResult<T>>;

/** Values as they are written, and a function that checks whether a record has them. */
function targetValues(columns: ReadonlySet<string>, values: RemoteValues) {
  const fields = Object.keys(values);
  const wanted = Object.fromEntries(
    fields.map((name) => [name, serializeValue(columns, name, values[name]!)]),
  );
  const isStored = (record: RemoteRecord, name: string): boolean => {
    const { value = '', display = '' } = record.fields[name] ?? {};
    const expected = wanted[name]!;
    if (typeof expected === 'object') return display === expected.name;
    const stored = serializeValue(columns, name, value === '' ? null : (value as string));
    return String(stored) === String(expected);
  };
  return { fields, wanted, isStored };
}

/** Creates a link between two objects. */
async function createLink(
  transport: ItopTransport,
  safeWrite: SafeWrite,
  type: string,
  from: string,
  to: string,
): Promise<string> {
  const link = linkTypeOf(type);
  if (!link) throw unknownTypeError(type);
  const where = `class ${link.class}`;
  const [source, target] = [splitId(from), splitId(to)];
  if (!source || !target)
    throw new RemoteError('not_found', where, 'An end of the relation is not the id of an object');
  const ends = [
    [link.from.attribute, source.key],
    [link.to.attribute, target.key],
  ] as const;
  const operation = {
    operation: 'core/create',
    comment: COMMENT,
    class: link.class,
    fields: Object.fromEntries(ends),
    output_fields: 'id',
  };
  const idOf = ({ objects: [object] }: ItopResponse) => object && remoteId(object.class, object.key);
  const written = await safeWrite<string>(
    { doing: 'Creating a relation', operation },
    async () => {
      const found = await transport.get({
        class: link.class,
        conditions: ends.map(([attribute, key]) => `${attribute} = ${key}`),
        fields: 'id',
        limit: 2,
        doing: 'Looking up a relation',
      });
      if (found.found > 1) throw new RemoteError('ambiguous', where, 'Several links connect the two objects');
      return idOf(found) ?? null;
    },
    (response) => {
      const id = idOf(response);
      if (id === undefined)
        throw new RemoteError('response_lost', link.class, 'The response contains no relation');
      return id;
    },
  );
  return written.value;
}

/** Deletes an object. @returns whether it existed. */
async function removeObject(
  reading: Reading,
  safeWrite: SafeWrite,
  { table, id, doing }: { table: string; id: string; doing: string },
): Promise<boolean> {
  const key = splitId(id);
  if (!key) return false;
  const isGone = async () => (await reading.readByIds(table, [id], [])).get(id)?.kind === 'gone';
  const operation = {
    operation: 'core/delete',
    comment: COMMENT,
    class: key.className,
    key: key.key,
    simulate: false,
  };
  try {
    const removed = await safeWrite<boolean>(
      { doing, operation },
      async () => (await isGone()) || null,
      ({ message, found }) => !/Deleted: \d/.test(message) || found > 0,
    );
    return removed.value;
  } catch (error) {
    if (isRemoteError(error, 'not_found')) return false;
    // all internal errors have the same code: whether the object exists is more reliable than the message
    if (isRemoteError(error, 'refused') && (await isGone().catch(() => false))) return false;
    throw error;
  }
}

/** A safe write whose refusal is looked up too: it may come after the object was stored, such as when a trigger fails. */
function createItopSafeWrite(transport: ItopTransport, settleMs: number): SafeWrite {
  const safeWrite = createSafeWrite(transport, settleMs);
  return async ({ doing, operation }, find, read) => {
    const call = transport.callOf({ doing, isRead: false, operation: () => operation });
    try {
      return await safeWrite(call, find, (result) => read(readObjects(result)));
    } catch (error) {
      if (!isRemoteError(error, 'refused')) throw error;
      const value = await find().catch(() => null);
      if (value === null) throw error;
      return { value, isRecovered: true };
    }
  };
}

export function createWriting(
  transport: ItopTransport,
  { reading, history, description }: { reading: Reading; history: History; description: Description },
  config: ItopConfig,
): Writing {
  const safeWrite = createItopSafeWrite(transport, config.settleMs);

  const columnsFor = async (table: string, fields: string[]) => {
    const columns = await description.columnsOf(table);
    return { columns, output: outputFields(fields, columns) };
  };

  const recordFrom =
    (table: string, fields: string[]) =>
    ({ objects: [object] }: ItopResponse): RemoteRecord =>
      requireRecord(table, object && recordOf(table, object, fields, new Date(history.now()).toISOString()));

  const findCreated = async (
    table: string,
    correlation: string,
    fields: string[] = [],
  ): Promise<RemoteRecord | null> => {
    // an empty id would match the comment of every change
    if (correlation === '') throw new Error('a correlation id must not be empty');
    const call = history.findCreated(table, commentOf(correlation));
    const created = await withFallback(call, ['forbidden'], null);
    if (!created) {
      const what = `Whether an object of ${table} was created can only be read from the history, which the account may not read`;
      throw new RemoteError('response_lost', `class ${table}`, what);
    }
    const ids = created.map((one) => remoteId(one.class, one.key));
    const lookups = await reading.readByIds(table, ids, fields);
    const [record = null, another] = [...lookups.values()].flatMap((lookup) => recordIn(lookup) ?? []);
    if (!another) return record;
    const what = `Several objects of ${table} were created with the same comment`;
    throw new RemoteError('ambiguous', `class ${table}`, what);
  };

  const update: Writing['update'] = async (table, id, values, _version, seen) => {
    const key = splitId(id);
    const where = `class ${table}`;
    const doing = `Changing an object of ${table}`;
    if (!key) throw new RemoteError('not_found', where, `${id} is not the id of an object`);
    const { columns, output } = await columnsFor(table, Object.keys(values));
    const { fields, wanted, isStored } = targetValues(columns, values);
    const operation = {
      operation: 'core/update',
      comment: COMMENT,
      class: key.className,
      key: key.key,
      fields: wanted,
      output_fields: output,
    };
    const { value: record, isRecovered } = await safeWrite<RemoteRecord>(
      { doing, operation },
      async () => {
        const lookup = (await reading.readByIds(table, [id], fields)).get(id);
        if (lookup?.kind === 'gone') throw new RemoteError('not_found', where, `The object ${id} is gone`);
        const found = recordIn(lookup);
        if (found && fields.every((name) => isStored(found, name))) return found;
        return requireUnchanged({ where, doing }, found, seen, fields);
      },
      recordFrom(table, fields),
    );
    return { record, isRecovered };
  };

  /**
   * The existing object with the values of the reconciliation keys, after the other values were written to it; null if there
   * is none. A second attempt finds it again, with the written values.
   */
  const adopt = async (
    table: string,
    values: RemoteValues,
    columns: ReadonlySet<string>,
  ): Promise<WriteResult | null> => {
    const { reconciliation = {} } = config;
    const keys = Object.hasOwn(reconciliation, table) ? reconciliation[table]! : [];
    if (keys.length === 0) return null;
    const record = await findReconciled(transport, { table, keys, columns }, values);
    if (!record) return null;
    const { fields, isStored } = targetValues(columns, values);
    const other = fields.filter((name) => !isStored(record, name));
    if (other.length === 0) return { record, isRecovered: false, adopted: true };
    const changes = Object.fromEntries(other.map((name) => [name, values[name]!]));
    const written = await update(table, record.id, changes, undefined, record.fields);
    const merged = { ...written.record, fields: { ...record.fields, ...written.record.fields } };
    return { record: merged, isRecovered: written.isRecovered, adopted: true };
  };

  return {
    findCreated: (table, correlation) => findCreated(table, correlation),

    async create(table, values, correlation) {
      const fields = Object.keys(values);
      const { columns, output } = await columnsFor(table, fields);
      const filled = Object.entries(values).filter(([, value]) => value !== null);
      const adopted = await adopt(table, Object.fromEntries(filled), columns);
      if (adopted) return adopted;
      const operation = {
        operation: 'core/create',
        comment: commentOf(correlation),
        class: table,
        fields: Object.fromEntries(
          filled.map(([name, value]) => [name, serializeValue(columns, name, value)]),
        ),
        output_fields: output,
      };
      const { value: record, isRecovered } = await safeWrite(
        { doing: `Creating an object of ${table}`, operation },
        () => findCreated(table, correlation, fields),
        recordFrom(table, fields),
      );
      return { record, isRecovered };
    },

    update,

    delete: (table, id) =>
      removeObject(reading, safeWrite, { table, id, doing: `Deleting an object of ${table}` }),

    createRelation: (type, from, to) => createLink(transport, safeWrite, type, from, to),

    deleteRelation: (id) =>
      removeObject(reading, safeWrite, {
        table: splitId(id)?.className ?? '',
        id,
        doing: 'Deleting a relation',
      }),
  };
}

/**
 * The one object of a class or its subclasses with the values of the reconciliation keys, as iTop's own data
 * synchronisation finds it; null if there is none.
 * @throws RemoteError `ambiguous` if there are several, `refused` if the new object has no value for a key, since any object
 * without one would fit.
 */
async function findReconciled(
  transport: ItopTransport,
  { table, keys, columns }: { table: string; keys: readonly string[]; columns: ReadonlySet<string> },
  values: RemoteValues,
): Promise<RemoteRecord | null> {
  const where = `class ${table}`;
  const empty = keys.find((key) => (values[key] ?? '') === '');
  if (empty !== undefined) {
    const what = `Objects of ${table} are reconciled by ${keys.join(', ')}, but the new one has no ${empty}`;
    throw new RemoteError('refused', where, what);
  }
  const fields = [...new Set([...keys, ...Object.keys(values)])];
  const { found, objects } = await transport.get({
    class: table,
    conditions: keys.map((key) => conditionOf(columns, key, values[key]!)),
    fields: outputFields(fields, columns),
    limit: 2,
    doing: `Looking up an object of ${table}`,
  });
  if (found > 1)
    throw new RemoteError('ambiguous', where, `Several objects of ${table} have this ${keys.join(', ')}`);
  const [shown] = objects;
  return shown ? recordOf(table, shown, fields) : null;
}

/** References are compared by key, or by name if the value is a name. */
function conditionOf(
  columns: ReadonlySet<string>,
  key: string,
  value: string | number | boolean | null,
): string {
  const stored = serializeValue(columns, key, value);
  if (typeof stored === 'object') return `${key}_friendlyname = ${quote(stored.name)}`;
  return `${key} = ${typeof stored === 'number' ? stored : quote(String(stored))}`;
}
