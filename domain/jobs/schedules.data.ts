import { archivePurgeJob } from './kinds/archive-purge.ts';
import { eolRefreshJob } from './kinds/eol-refresh.ts';
import { housekeepingJob } from './kinds/housekeeping.ts';
import { kpiSnapshotJob } from './kinds/kpi-snapshot.ts';
import { mitigationsDueJob } from './kinds/mitigations-due.ts';
import { todosDueJob } from './kinds/todos-due.ts';
import type { BuiltInSchedule } from './schedules.fire.ts';

/** The schedules that every workspace has. */
export const builtInSchedules: BuiltInSchedule[] = [
  { key: 'kpi_snapshot', kind: kpiSnapshotJob.kind, queue: kpiSnapshotJob.queue, cron: '0 2 * * *' },
  { key: 'housekeeping', kind: housekeepingJob.kind, queue: housekeepingJob.queue, cron: '17 * * * *' },
  { key: 'archive_purge', kind: archivePurgeJob.kind, queue: archivePurgeJob.queue, cron: '47 * * * *' },
  { key: 'todos_due', kind: todosDueJob.kind, queue: todosDueJob.queue, cron: '5 0 * * *' },
  {
    key: 'mitigations_due',
    kind: mitigationsDueJob.kind,
    queue: mitigationsDueJob.queue,
    cron: '10 0 * * *',
  },
  { key: 'eol_refresh', kind: eolRefreshJob.kind, queue: eolRefreshJob.queue, cron: '40 3 * * *' },
];
