import type { Sql } from '../../../platform/database.ts';
import type { DiagramRow } from './bpm.types.ts';

/**
 * In which order the diagrams of a process, over the alias `d`, come first: the newest of its own, and only without one
 * the newest of those that a merge has brought.
 */
export const CURRENT_FIRST = '(d.lineage_id = d.process_id) desc, d.version desc, d.lineage_id';

/** The diagram that a process shows, or the named version of its. */
export async function currentDiagram(
  sql: Sql,
  processId: string,
  version?: number,
): Promise<DiagramRow | undefined> {
  const { rows } = await sql.raw(
    `select to_jsonb(d) as row from process_diagrams d
     where d.process_id = ?::uuid ${version === undefined ? '' : 'and d.version = ?'}
     order by ${CURRENT_FIRST} limit 1`,
    version === undefined ? [processId] : [processId, version],
  );
  return rows[0]?.row;
}
