import { RemoteError, type RemoteRecord, type RemoteTombstone, withFallback } from '../../remote.ts';
import { byTime } from '../responses.ts';
import type { Transport } from '../transport.ts';
import { fromRemoteTime, type Reading, recordsOf, textOf, toRemoteTime, where } from './reading.ts';

const DELETIONS = 'sys_audit_delete';
const PAGE = 1_000;
const OVERLAP_MS = 60_000;
/** With more classes than these the URL would be too long; then all deletions are read. */
const MAX_CLASSES = 100;

/**
 * Records of these classes that were deleted since a time, oldest first. If the remote repeats rows in place of others, the read
 * fails, since no later read would return the missing ones.
 */
export async function readDeletions(
  { readPages }: Pick<Reading, 'readPages'>,
  table: string,
  classes: string[],
  since: string,
): Promise<RemoteTombstone[]> {
  const wanted = new Set(classes);
  const tombstones = new Map<string, RemoteTombstone>();
  const conditions = [
    ...(classes.length <= MAX_CLASSES ? [where('tablename', 'IN', classes.join(','))] : []),
    where('sys_created_on', '>=', toRemoteTime(Date.parse(since) - OVERLAP_MS)),
  ];
  for await (const page of readPages({
    table: DELETIONS,
    fields: ['tablename', 'documentkey', 'sys_created_on'],
    filter: conditions.join('^'),
    limit: PAGE,
  })) {
    if (page.hasRepeatedRows) {
      const what = `Reading ${DELETIONS} returned repeated rows in place of others`;
      throw new RemoteError('incomplete_response', `table ${DELETIONS}`, what);
    }
    for (const record of page.records) {
      const id = textOf(record, 'documentkey');
      const at = fromRemoteTime(textOf(record, 'sys_created_on'));
      if (id && at && wanted.has(textOf(record, 'tablename'))) tombstones.set(id, { table, id, at });
    }
  }
  return [...tombstones.values()].sort(byTime);
}

/** Columns of `sys_audit`, which has one row for each column that a change has modified. */
const columns = ['fieldname', 'oldvalue', 'newvalue', 'record_checkpoint'];
/** Maximum number of changes that are read. */
const MAX_CHANGES = 200;

/**
 * Finds values of other users that a write has overwritten. The instance has no conditional writes, but counts the changes of a
 * record: if there was more than one since it was read, its audit contains the overwritten values.
 * @param record the record after the write; `wanted` are the written values, `version` and `seen` describe the record before.
 * @returns the replaced values by column, usually none; `unknown` if the account may not read the audit.
 */
export async function findOverwritten(
  transport: Transport,
  record: RemoteRecord,
  known: {
    wanted: Record<string, string>;
    version: string | undefined;
    seen: RemoteRecord['fields'] | undefined;
  },
): Promise<Record<string, string> | 'unknown'> {
  const { wanted, version, seen } = known;
  const changes = Number(record.version) - Number(version);
  if (!seen || !(changes > 1)) return {};
  const response = await withFallback(
    transport.send({
      method: 'GET',
      path: '/api/now/v2/table/sys_audit',
      doing: `Reading the audit of a record of ${record.table}`,
      query: () => ({
        sysparm_query: [
          where('documentkey', '=', record.id),
          where('fieldname', 'IN', Object.keys(wanted).join(',')),
          where('record_checkpoint', '>', version!),
          'ORDERBYrecord_checkpoint',
        ].join('^'),
        sysparm_fields: ['sys_id', ...columns].join(','),
        sysparm_limit: String(MAX_CHANGES),
        sysparm_no_count: 'true',
      }),
    }),
    ['forbidden'],
    null,
  );
  if (!response) return 'unknown';
  const rows = recordsOf('sys_audit', response.result, columns);
  const overwritten: Record<string, string> = {};
  let isKnown = false;
  for (const [column, value] of Object.entries(wanted)) {
    const ownChange = rows.findLast(
      (row) => row.fields.fieldname?.value === column && row.fields.newvalue?.value === value,
    );
    if (!ownChange) continue;
    isKnown = true;
    const replaced = textOf(ownChange, 'oldvalue');
    if (replaced !== String(seen[column]?.value ?? '') && replaced !== value) overwritten[column] = replaced;
  }
  return isKnown ? overwritten : 'unknown';
}
