import { kpiSnapshotJob } from '../domain/exchange/exports/kpi-snapshot.job.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';
import { takeKpiSnapshot } from '../reports/inventory/kpis/kpis.snapshots.ts';

/** Stores the key figures under the schedule's slot. */
export const kpiSnapshotProcessor = processes(kpiSnapshotJob, async (job) => {
  const slot = job.slot ?? new Date();
  const stored = await takeKpiSnapshot(job.ctx, slot);
  return { result: { slot: slot.toISOString(), stored } };
});
