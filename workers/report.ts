import { reportJob } from '../domain/exchange/exports/report.job.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';
import { runReportJob } from '../reports/kernel/report.job.ts';

export const reportProcessor = processes(reportJob, runReportJob);
