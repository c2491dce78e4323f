import { done, type Result } from '../../remote.failures.ts';
import type { RemoteRecord } from '../../remote.types.ts';
import type { Transport } from '../transport.ts';
import { where } from './query.ts';
import { recordsOf } from './records.ts';

/** Columns of `sys_audit`: one row for each column that a change has given another value. */
const columns = ['fieldname', 'oldvalue', 'newvalue', 'record_checkpoint'];
/** Changes of these columns in the moment between a look and a write; more are not looked at. */
const MOST = 200;

/**
 * What a write has gone over that nobody had seen. The instance takes no condition with a write, but counts the changes
 * of a record: where there were more than one since it was looked at, its audit tells what the write has replaced.
 * @param record as the write has left it.
 * @param wanted what was written; `version` and `seen` are the record as it was looked at before.
 * @returns the replaced values by column, none in most cases; `unknown` where the instance does not show its audit.
 */
export async function overwritten(
  transport: Transport,
  record: RemoteRecord,
  {
    wanted,
    version,
    seen,
  }: {
    wanted: Record<string, string>;
    version: string | undefined;
    seen: RemoteRecord['fields'] | undefined;
  },
): Promise<Result<Record<string, string> | 'unknown'>> {
  const changes = Number(record.version) - Number(version);
  if (!seen || !(changes > 1)) return done({});
  const answer = await transport.send({
    method: 'GET',
    path: '/api/now/v2/table/sys_audit',
    doing: `Looking what was changed meanwhile in a record of ${record.table}`,
    query: () => ({
      sysparm_query: [
        where('documentkey', '=', record.id),
        where('fieldname', 'IN', Object.keys(wanted).join(',')),
        where('record_checkpoint', '>', version!),
        'ORDERBYrecord_checkpoint',
      ].join('^'),
      sysparm_fields: ['sys_id', ...columns].join(','),
      sysparm_limit: String(MOST),
      sysparm_no_count: 'true',
    }),
  });
  if (!answer.ok) return answer.failure.code === 'forbidden' ? done('unknown') : answer;
  const rows = recordsOf('sys_audit', answer.value.result, columns).map(({ fields }) => fields);
  const theirs: Record<string, string> = {};
  let isKnown = false;
  for (const [column, value] of Object.entries(wanted)) {
    const mine = rows.findLast(
      ({ fieldname, newvalue }) => fieldname?.value === column && newvalue?.value === value,
    );
    if (!mine) continue;
    isKnown = true;
    const replaced = String(mine.oldvalue?.value ?? '');
    if (replaced !== String(seen[column]?.value ?? '') && replaced !== value) theirs[column] = replaced;
  }
  return done(isKnown ? theirs : 'unknown');
}
