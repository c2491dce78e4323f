import { processes } from '../domain/jobs/jobs.running.ts';
import { metamodelChangeJob } from '../domain/jobs/kinds/metamodel-change.ts';
import { runMetamodelChange } from '../domain/metamodel/changes/changes.job.ts';

export const metamodelChangeProcessor = processes(metamodelChangeJob, runMetamodelChange);
