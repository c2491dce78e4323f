import { done, type Result } from '../../remote.failures.ts';
import type { RemoteTombstone } from '../../remote.types.ts';
import type { Transport } from '../transport.ts';
import { fromRemoteTime, toRemoteTime, where } from './query.ts';

const PAGE = 1_000;
const OVERLAP_MS = 60_000;
/** More classes than these make an address too long; then all deletions are read. */
const MOST_CLASSES = 100;

/** Records of these classes that the audit says were deleted since a moment, oldest first. */
export async function readDeletions(
  transport: Transport,
  table: string,
  classes: string[],
  since: string,
): Promise<Result<RemoteTombstone[]>> {
  const wanted = new Set(classes);
  const tombstones = new Map<string, RemoteTombstone>();
  const from = toRemoteTime(Date.parse(since) - OVERLAP_MS);
  for (let after = ''; ; ) {
    const conditions = [
      ...(classes.length <= MOST_CLASSES ? [where('tablename', 'IN', classes.join(','))] : []),
      where('sys_created_on', '>=', from),
      ...(after === '' ? [] : [where('sys_id', '>', after)]),
    ];
    const answer = await transport.send({
      method: 'GET',
      path: '/api/now/v2/table/sys_audit_delete',
      doing: `Reading what was deleted from ${table}`,
      pageSize: PAGE,
      query: (pageSize) => ({
        sysparm_query: [...conditions, 'ORDERBYsys_id'].join('^'),
        sysparm_fields: 'sys_id,tablename,documentkey,sys_created_on',
        sysparm_limit: String(pageSize),
        sysparm_no_count: 'true',
      }),
    });
    if (!answer.ok) return answer;
    const rows = Array.isArray(answer.value.result) ? (answer.value.result as Record<string, string>[]) : [];
    for (const row of rows) {
      const at = fromRemoteTime(row.sys_created_on ?? '');
      if (row.documentkey && at && wanted.has(row.tablename ?? ''))
        tombstones.set(row.documentkey, { table, id: row.documentkey, at });
    }
    const last = rows.at(-1)?.sys_id;
    if (rows.length < answer.value.pageSize || !last || last <= after) break;
    after = last;
  }
  return done(
    [...tombstones.values()].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1)),
  );
}
