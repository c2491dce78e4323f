import { unsettledRuns } from '../../../domain/exchange/itsm/plan.journal.ts';
import { logRun } from '../../../domain/exchange/itsm/runs.store.ts';
import type { RunRow } from '../../../domain/exchange/itsm/runs.types.ts';
import type { Connector } from '../connectors/connector.ts';
import { settleRun } from '../port/apply.run.ts';
import { isRemoteError } from '../remote.errors.ts';
import type { RunJob } from './run.begin.ts';

/**
 * Before anything is read, finds out what has become of writes that earlier runs of the mapping have sent and heard
 * nothing of. What cannot be told, since it is kept from the account, is asked again by the next run.
 */
export async function settleEarlier(job: RunJob, run: RunRow, connector: Connector): Promise<void> {
  const { ctx, signal } = job;
  for (const earlier of await unsettledRuns(ctx.db, run.mapping_id)) {
    const hold: RunJob['hold'] = (work) => job.hold(work);
    try {
      const count = await settleRun({ ctx, connector, signal, hold }, earlier);
      const told = `Looked up ${count} writes of an earlier run, of which no answer had come.`;
      await logRun(ctx.db, run.id, 'read', 'info', told);
    } catch (error) {
      if (!isRemoteError(error, 'answer_lost')) throw error;
    }
  }
}
