import { todosDueJob } from '../collaboration/todos/todos.due.ts';
import { eolRefreshJob } from '../governance/eol/eol.facts.ts';
import { mitigationsDueJob } from '../governance/risks/tasks.store.ts';
import { archivePurgeJob } from '../inventory/cards/archive-purge.job.ts';
import { costsRefreshJob } from '../inventory/costs/costs.job.ts';
import { removalNoticesJob } from '../inventory/metamodel/notices/notices.job.ts';
import { kpiSnapshotJob } from '../inventory/reports/report.job.ts';
import type { BuiltInSchedule } from '../kernel/jobs/schedules.fire.ts';
import { housekeepingJob } from './housekeeping.job.ts';

/** The schedules that every workspace has. */
export const builtInSchedules: BuiltInSchedule[] = [
  { key: 'kpi_snapshot', kind: kpiSnapshotJob.kind, queue: kpiSnapshotJob.queue, cron: '0 2 * * *' },
  { key: 'housekeeping', kind: housekeepingJob.kind, queue: housekeepingJob.queue, cron: '17 * * * *' },
  { key: 'archive_purge', kind: archivePurgeJob.kind, queue: archivePurgeJob.queue, cron: '47 * * * *' },
  { key: 'costs_refresh', kind: costsRefreshJob.kind, queue: costsRefreshJob.queue, cron: '1 0 * * *' },
  { key: 'todos_due', kind: todosDueJob.kind, queue: todosDueJob.queue, cron: '5 0 * * *' },
  {
    key: 'mitigations_due',
    kind: mitigationsDueJob.kind,
    queue: mitigationsDueJob.queue,
    cron: '10 0 * * *',
  },
  {
    key: 'removal_notices',
    kind: removalNoticesJob.kind,
    queue: removalNoticesJob.queue,
    cron: '15 0 * * *',
  },
  { key: 'eol_refresh', kind: eolRefreshJob.kind, queue: eolRefreshJob.queue, cron: '40 3 * * *' },
];
