import { processes } from '../domain/jobs/jobs.running.ts';
import { reportQueryJob } from '../domain/jobs/kinds/report-query.ts';
import { runQueryJob } from '../reports/query/query.files.ts';

export const reportQueryProcessor = processes(reportQueryJob, runQueryJob);
