import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';
import type { SavedReportRow } from './saved-reports.model.ts';

/** The digest by which a schedule knows what its owner has seen of a saved report. @param config SQL of a jsonb. */
export const seenDigest = (config: Fragment): Fragment =>
  fragment`encode(sha256(convert_to((${embed(config)})::text, 'UTF8')), 'hex')`;

/**
 * Lets schedules that had seen a saved report have seen it as it is now. What they had not seen stays so.
 * @param owner only schedules of this user, who has made the change. @param expected only if this is its config now.
 */
export async function keepSeen(
  sql: Sql,
  before: Pick<SavedReportRow, 'id' | 'config'>,
  { owner = null, expected }: { owner?: string | null; expected?: unknown } = {},
): Promise<void> {
  const wanted =
    expected === undefined ? fragment`true` : fragment`s.config = ${JSON.stringify(expected)}::jsonb`;
  const [now, old] = [fragment`s.config`, fragment`${JSON.stringify(before.config)}::jsonb`];
  await query(sql).run`update extraction_schedules e set report_digest = ${embed(seenDigest(now))}
    from saved_reports s
    where s.id = ${before.id}::uuid and e.report ->> 'saved_report_id' = s.id::text
      and e.report_digest = ${embed(seenDigest(old))}
      and (${owner}::uuid is null or e.owner_id = ${owner}::uuid) and ${embed(wanted)}`;
}
