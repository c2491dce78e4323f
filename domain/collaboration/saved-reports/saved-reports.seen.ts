import { embed, fragment, query, type Sql } from '../../../platform/database.ts';
import type { Fragment } from '../../kernel/lists/lists.types.ts';
import type { SavedReportRow } from './saved-reports.model.ts';

/** The digest by which a schedule knows what its owner has seen of a saved report. @param config SQL of a jsonb. */
export const seenDigest = (config: Fragment): Fragment =>
  fragment`encode(sha256(convert_to((${embed(config)})::text, 'UTF8')), 'hex')`;

/**
 * Lets schedules that had seen a saved report have seen it as it is now. What they had not seen stays so.
 * @param owner only schedules of this user, who has made the change.
 */
export async function keepSeen(
  sql: Sql,
  before: Pick<SavedReportRow, 'id' | 'config'>,
  owner?: string,
): Promise<void> {
  const [now, old] = [fragment`s.config`, fragment`${JSON.stringify(before.config)}::jsonb`];
  await query(sql).run`update extraction_schedules e set report_digest = ${embed(seenDigest(now))}
    from saved_reports s
    where s.id = ${before.id}::uuid and e.report ->> 'saved_report_id' = s.id::text
      and e.report_digest = ${embed(seenDigest(old))}
      and (${owner ?? null}::uuid is null or e.owner_id = ${owner ?? null}::uuid)`;
}
