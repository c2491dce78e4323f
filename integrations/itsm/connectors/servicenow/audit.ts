import { RemoteError, type RemoteRecord, type RemoteTombstone, unless } from '../../remote.ts';
import { byTime } from '../responses.ts';
import type { Transport } from '../transport.ts';
import { fromRemoteTime, type Reading, recordsOf, textOf, toRemoteTime, where } from './reading.ts';

const DELETIONS = 'sys_audit_delete';
const PAGE = 1_000;
const OVERLAP_MS = 60_000;
/** With more classes than these the URL would be too long; then all deletions are read. */
const MAX_CLASSES = 100;

/**
 * Records of these classes that were deleted since a time, oldest first. Rows of the audit that the account may not see
 * make pages short, or empty, before the end. Rows that stay missing because others are repeated in their place fail the
 * read: no later read would return them.
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
  const fields = ['tablename', 'documentkey', 'sys_created_on'];
  for await (const page of readPages({
    table: DELETIONS,
    fields,
    filter: conditions.join('^'),
    limit: PAGE,
  })) {
    if (page.repeated) {
      const what = `Reading ${DELETIONS} shows rows twice in place of others`;
      throw new RemoteError('incomplete_answer', `table ${DELETIONS}`, what);
    }
    for (const record of page.records) {
      const id = textOf(record, 'documentkey');
      const at = fromRemoteTime(textOf(record, 'sys_created_on'));
      if (id && at && wanted.has(textOf(record, 'tablename'))) tombstones.set(id, { table, id, at });
    }
  }
  return [...tombstones.values()].sort(byTime);
}

/** Columns of `sys_audit`, which has one row for each column that a change gave another value. */
const columns = ['fieldname', 'oldvalue', 'newvalue', 'record_checkpoint'];
/** Changes of these columns between a look and a write; further ones are not read. */
const MAX_CHANGES = 200;

/**
 * Values that a write has replaced without anybody having seen them. The instance takes no condition with a write, but
 * counts the changes of a record: if there was more than one since it was seen, its audit tells what the write replaced.
 * @param record after the write.
 * @param before what was written; `version` and `seen` are the record before.
 * @returns the replaced values by column, usually none; `unknown` if the account may not read the audit.
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
): Promise<Record<string, string> | 'unknown'> {
  const changes = Number(record.version) - Number(version);
  if (!seen || !(changes > 1)) return {};
  const response = await unless(
    transport.send({
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
        sysparm_limit: String(MAX_CHANGES),
        sysparm_no_count: 'true',
      }),
    }),
    ['forbidden'],
    null,
  );
  if (!response) return 'unknown';
  const rows = recordsOf('sys_audit', response.result, columns);
  const theirs: Record<string, string> = {};
  let isKnown = false;
  for (const [column, value] of Object.entries(wanted)) {
    const mine = rows.findLast(
      (row) => row.fields.fieldname?.value === column && row.fields.newvalue?.value === value,
    );
    if (!mine) continue;
    isKnown = true;
    const replaced = textOf(mine, 'oldvalue');
    if (replaced !== String(seen[column]?.value ?? '') && replaced !== value) theirs[column] = replaced;
  }
  return isKnown ? theirs : 'unknown';
}
