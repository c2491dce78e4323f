import { RemoteError } from '../../remote.errors.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { RemoteValues } from '../connector.ts';
import type { SafeWrite } from '../safe-write.ts';
import type { Transport } from '../transport.ts';
import type { ServiceNowConfig } from './config.ts';
import { pathOf, where } from './query.ts';
import type { Reading } from './reading.ts';
import { CHANGES, recordOf, recordsOf, systemColumns } from './records.ts';

/** What every write uses. */
export interface WritingParts {
  transport: Transport;
  reading: Reading;
  config: ServiceNowConfig;
  safeWrite: SafeWrite;
}

/** The query by which a response shows these columns. */
export const answerWith = (fields: string[]) => () => ({
  sysparm_fields: [...new Set([...systemColumns, CHANGES, ...fields])].join(','),
  sysparm_display_value: 'all',
  sysparm_exclude_reference_link: 'true',
});

/** Values as the instance takes them: null is an empty text. */
export const textsOf = (values: RemoteValues): Record<string, string> =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, value === null ? '' : String(value)]),
  );

/** Reads the record in the response to a write. */
export const recordFrom =
  (table: string, fields: string[]) =>
  (result: unknown): RemoteRecord => {
    const record = recordOf(table, result, fields);
    if (record) return record;
    throw new RemoteError('answer_lost', `table ${table}`, 'The answer to the write shows no record');
  };

/**
 * The one record whose columns hold these values; null if there is none.
 * @throws RemoteError `ambiguous` if there are several, `answer_lost` if one is hidden from the account, `refused` if the
 * table cannot be queried by one of the columns.
 */
export async function findOne(
  { transport }: Pick<WritingParts, 'transport'>,
  table: string,
  values: Record<string, string>,
  fields: string[],
): Promise<RemoteRecord | null> {
  const names = Object.keys(values);
  const all = [...new Set([...names, ...fields])];
  const { result, total = 0 } = await transport.send({
    method: 'GET',
    path: pathOf(table),
    doing: `Looking up a record of ${table}`,
    query: () => ({
      ...answerWith(all)(),
      sysparm_query: [...names.map((name) => where(name, '=', values[name]!)), 'ORDERBYsys_created_on'].join(
        '^',
      ),
      sysparm_limit: '2',
    }),
  });
  const records = recordsOf(table, result, all);
  const problem = (code: 'refused' | 'ambiguous' | 'answer_lost', what: string) =>
    new RemoteError(code, `table ${table}`, what);
  // the remote ignores a condition on an unknown column, so that any record would fit
  const ignored = names.find((name) => records.some(({ fields }) => fields[name]?.value !== values[name]));
  if (ignored !== undefined) {
    const what = `The records of ${table} cannot be looked up by ${ignored}: the column is missing or hidden`;
    throw problem('refused', what);
  }
  if (records.length > 1)
    throw problem('ambiguous', `Several records of ${table} have the same ${names.join(', ')}`);
  // a hidden record must not be created again
  if (total > records.length) {
    const what = `A record of ${table} with this ${names.join(', ')} is kept from the account`;
    throw problem('answer_lost', what);
  }
  return records[0] ?? null;
}
