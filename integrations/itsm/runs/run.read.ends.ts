import { heard, keepHeard } from '../../../domain/exchange/itsm/runs.heard.ts';
import { untoldTargets } from '../../../domain/exchange/itsm/runs.links.ts';
import { inTransaction } from '../../../platform/database.ts';
import { kindsOf } from './run.link.kinds.ts';
import type { RunWork } from './run.types.ts';

/** Records of a look. */
const LOOKS = 100;

/**
 * Looks whether records of other mappings are still there to which relations lead that are known here and not told outside. A
 * remote takes relations away with a record and refuses new ones to it, and the run that reads the record may come after
 * this one.
 */
export async function lookAtEnds(work: RunWork): Promise<void> {
  const { db, connector, loaded, runId, signal } = work;
  const { direction, deletion } = loaded.mapping;
  const concerns = {
    removals: direction !== 'push' && deletion.mode !== 'additive',
    additions: direction !== 'pull',
  };
  for (const kind of kindsOf(work)) {
    // its own records the run has read, and those of a mapping that does not run wait in any case
    const table = loaded.targetTables?.[kind.target_mapping_id];
    if (table === undefined) continue;
    const ids = await inTransaction(db, (sql) => untoldTargets(sql, kind, concerns));
    for (let at = 0; at < ids.length; at += LOOKS) {
      signal.throwIfAborted();
      const looks = await connector.readByIds(table, ids.slice(at, at + LOOKS), []);
      const gone = [...looks].flatMap(([id, { kind: look }]) =>
        look === 'gone' ? [heard(id, { look })] : [],
      );
      await work.keep({}, (sql) => keepHeard(sql, runId, gone));
    }
  }
}
