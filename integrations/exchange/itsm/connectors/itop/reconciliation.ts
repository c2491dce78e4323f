import { RemoteError, type RemoteRecord } from '../../remote.ts';
import type { RemoteValues } from '../connector.ts';
import { quote } from './oql.ts';
import { outputFields, recordOf, serializeValue } from './records.ts';
import type { ItopTransport } from './transport.ts';

/**
 * The one object of a class or its subclasses with the values of the reconciliation keys, as iTop's own data
 * synchronisation finds it; null if there is none.
 * @throws RemoteError `ambiguous` if there are several, `refused` if the new object has no value for a key, since any object
 * without one would fit.
 */
export async function findReconciled(
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
