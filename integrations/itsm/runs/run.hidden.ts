import { emptiedColumns } from '../../../domain/exchange/itsm/runs.hidden.ts';
import { logRun } from '../../../domain/exchange/itsm/runs.store.ts';
import type { RunWork } from './run.types.ts';

/**
 * Leaves columns out of the run that are kept from the account: they come back empty, and nothing of that is a change.
 * Only columns are asked about that have come back empty where they were not, or in records without a card: made without
 * its value, a card would be taken for one whose value somebody has cleared. And in records that are to be removed.
 */
export async function leaveOutHidden(work: RunWork): Promise<void> {
  const { db, connector, loaded, mappingId, runId } = work;
  const { mapping } = loaded;
  const fields = mapping.fields.map(({ path, remote: column }) => ({ path, column }));
  const emptied = await emptiedColumns(db, runId, mappingId, fields);
  if (emptied.length === 0) return;
  const hidden = new Set(await connector.withheldFields(mapping.table, emptied));
  if (hidden.size === 0) return;
  const kept = mapping.fields.filter(({ remote }) => !hidden.has(remote));
  work.loaded = {
    ...loaded,
    mapping: { ...mapping, fields: kept, deletion: { ...mapping.deletion, held: true } },
  };
  await work.keep({ hidden: [...hidden] }, async (sql) => {
    await sql('itsm_runs')
      .where({ id: runId })
      .update({ mapping: JSON.stringify(work.loaded) });
    const told = `Left out, since the remote keeps them from the account: ${[...hidden].join(', ')}.`;
    await logRun(sql, runId, 'read', 'warning', told);
  });
}
