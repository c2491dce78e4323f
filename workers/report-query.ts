import { reportQueryJob } from '../domain/exports/report-query.job.ts';
import { processes } from '../domain/jobs/jobs.running.ts';
import { runQueryJob } from '../reports/query/query.files.ts';

export const reportQueryProcessor = processes(reportQueryJob, runQueryJob);
