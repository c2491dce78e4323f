import { done, failed, type Result } from '../../remote.failures.ts';
import type { RemoteTombstone } from '../../remote.types.ts';
import { fromRemoteTime, toRemoteTime, where } from './query.ts';
import type { Reading } from './reading.ts';

const AUDIT = 'sys_audit_delete';
const PAGE = 1_000;
const OVERLAP_MS = 60_000;
/** More classes than these make an address too long; then all deletions are read. */
const MOST_CLASSES = 100;

/**
 * Records of these classes that the audit says were deleted since a moment, oldest first. Rows of the audit that the
 * account may not see make pages short, or empty, without being the end. Rows that stay missing since others come in their place
 * fail the reading: no later one would show them.
 */
export async function readDeletions(
  reading: Pick<Reading, 'readPage'>,
  table: string,
  classes: string[],
  since: string,
): Promise<Result<RemoteTombstone[]>> {
  const wanted = new Set(classes);
  const tombstones = new Map<string, RemoteTombstone>();
  const conditions = [
    ...(classes.length <= MOST_CLASSES ? [where('tablename', 'IN', classes.join(','))] : []),
    where('sys_created_on', '>=', toRemoteTime(Date.parse(since) - OVERLAP_MS)),
  ];
  let cursor: string | null = null;
  do {
    const request = {
      table: AUDIT,
      fields: ['tablename', 'documentkey', 'sys_created_on'],
      filter: conditions.join('^'),
      limit: PAGE,
      cursor,
      display: false,
    };
    const page = await reading.readPage(request, true);
    if (!page.ok) return page;
    if (page.value.repeated) {
      const what = `Reading ${AUDIT} shows rows twice in place of others`;
      return failed('incomplete_answer', `table ${AUDIT}`, what);
    }
    for (const { fields } of page.value.records) {
      const text = (name: string) => String(fields[name]?.value ?? '');
      const id = text('documentkey');
      const at = fromRemoteTime(text('sys_created_on'));
      if (id && at && wanted.has(text('tablename'))) tombstones.set(id, { table, id, at });
    }
    cursor = page.value.next;
  } while (cursor !== null);
  return done(
    [...tombstones.values()].sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : a.id < b.id ? -1 : 1)),
  );
}
