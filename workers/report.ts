import { processes } from '../domain/jobs/jobs.running.ts';
import { reportJob } from '../domain/jobs/kinds/report.ts';
import { runReportJob } from '../reports/report.job.ts';

export const reportProcessor = processes(reportJob, runReportJob);
