import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { RemoteValues } from '../connector.ts';
import { quote, select } from './oql.ts';
import { outputFields, recordOf, writtenOf } from './records.ts';
import type { Transport } from './transport.ts';

/**
 * The one object that bears the values of a class's reconciliation keys, also one of a class below it, as iTop's own data
 * synchronisation finds it; null where there is none. Fails with `ambiguous` where several bear them, and with `refused` where the
 * new object has no value for a key, since any object without one would fit.
 */
export async function reconciled(
  transport: Transport,
  { table, keys, columns }: { table: string; keys: readonly string[]; columns: ReadonlySet<string> },
  values: RemoteValues,
): Promise<Result<RemoteRecord | null>> {
  const where = `class ${table}`;
  const empty = keys.find((key) => (values[key] ?? '') === '');
  if (empty !== undefined) {
    const what = `Objects of ${table} are reconciled by ${keys.join(', ')}, and the new one has no ${empty}`;
    return failed('refused', where, what);
  }
  const fields = [...new Set([...keys, ...Object.keys(values)])];
  const asked = await transport.ask({
    doing: `Looking up an object of ${table}`,
    isRead: true,
    operation: () => ({
      operation: 'core/get',
      class: table,
      key: select(
        table,
        keys.map((key) => conditionOf(columns, key, values[key]!)),
      ),
      output_fields: columns.size === 0 ? '*' : outputFields(fields, columns),
      limit: 2,
      page: 1,
    }),
  });
  if (!asked.ok) return asked;
  const { found, objects } = asked.value;
  if (found > 1)
    return failed('ambiguous', where, `Several objects of ${table} have this ${keys.join(', ')}`);
  const [shown] = objects;
  return done(shown ? recordOf(table, shown, fields) : null);
}

/** What leads to another object is compared by its key, or by the name that it is given by. */
function conditionOf(
  columns: ReadonlySet<string>,
  key: string,
  value: string | number | boolean | null,
): string {
  const written = writtenOf(columns, key, value);
  if (typeof written === 'object') return `${key}_friendlyname = ${quote(written.name)}`;
  return `${key} = ${typeof written === 'number' ? written : quote(String(written))}`;
}
