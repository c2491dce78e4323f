import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import { where } from './query.ts';
import { recordsOf } from './records.ts';
import { answerWith, pathOf, type WritingParts } from './writing.parts.ts';

/**
 * The one record whose columns hold these values, null where there is none.
 * @returns `ambiguous` where there are several, `answer_lost` where one is kept from the account, and `refused` where the
 * table cannot be asked for one of the columns.
 */
export async function lookUpOne(
  { transport }: Pick<WritingParts, 'transport'>,
  table: string,
  values: Record<string, string>,
  fields: string[],
): Promise<Result<RemoteRecord | null>> {
  const names = Object.keys(values);
  const all = [...new Set([...names, ...fields])];
  const answer = await transport.send({
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
  if (!answer.ok) return answer;
  const records = recordsOf(table, answer.value.result, all);
  // a condition on a column that is not there is passed over by the remote, and any record would fit
  const ignored = names.find((name) => records.some(({ fields }) => fields[name]?.value !== values[name]));
  if (ignored !== undefined) {
    const what = `The records of ${table} cannot be looked up by ${ignored}: the column is missing or hidden`;
    return failed('refused', `table ${table}`, what);
  }
  if (records.length > 1) {
    const what = `Several records of ${table} have the same ${names.join(', ')}`;
    return failed('ambiguous', `table ${table}`, what);
  }
  // it is there, and nobody may make another one because it is not shown
  if ((answer.value.total ?? 0) > records.length) {
    const what = `A record of ${table} with this ${names.join(', ')} is kept from the account`;
    return failed('answer_lost', `table ${table}`, what);
  }
  return done(records[0] ?? null);
}

/** The record that was made under an id of ours. */
export async function lookUpCreated(
  parts: Pick<WritingParts, 'transport' | 'config'>,
  table: string,
  correlation: string,
  fields: string[],
): Promise<Result<RemoteRecord | null>> {
  // an empty value would find every record that nobody made
  if (correlation === '') throw new Error('a correlation id must not be empty');
  return await lookUpOne(parts, table, { [parts.config.correlationField]: correlation }, fields);
}
