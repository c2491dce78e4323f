import { reportQueryJob } from '../domain/exchange/exports/report-query.job.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';
import { runQueryJob } from '../reports/analysis/query/query.files.ts';

export const reportQueryProcessor = processes(reportQueryJob, runQueryJob);
