import { processes } from '../domain/jobs/jobs.running.ts';
import { runMetamodelChange } from '../domain/metamodel/changes/changes.job.ts';
import { metamodelChangeJob } from '../domain/metamodel/changes/metamodel-change.job.ts';

export const metamodelChangeProcessor = processes(metamodelChangeJob, runMetamodelChange);
