import { reportJob } from '../domain/exports/report.job.ts';
import { processes } from '../domain/jobs/jobs.running.ts';
import { runReportJob } from '../reports/report.job.ts';

export const reportProcessor = processes(reportJob, runReportJob);
