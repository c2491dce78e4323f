import { queryRows, type Sql } from '../../../platform/database.ts';
import type { DiagramRow } from './bpm.model.ts';

/**
 * The order of the diagrams of a process, over the alias `d`: its own ones before those of merged processes, the newest
 * first. The first one is the current diagram.
 */
export const CURRENT_FIRST = '(d.lineage_id = d.process_id) desc, d.version desc, d.lineage_id';

/** The current diagram of a process, or a version of it. */
export async function currentDiagram(
  sql: Sql,
  processId: string,
  version?: number,
): Promise<DiagramRow | undefined> {
  const [found] = await queryRows<{ row: DiagramRow }>(
    sql,
    `select to_jsonb(d) as row from process_diagrams d
     where d.process_id = ?::uuid ${version === undefined ? '' : 'and d.version = ?'}
     order by ${CURRENT_FIRST} limit 1`,
    version === undefined ? [processId] : [processId, version],
  );
  return found?.row;
}
