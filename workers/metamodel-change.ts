import { runMetamodelChange } from '../domain/inventory/metamodel/changes/changes.job.ts';
import { metamodelChangeJob } from '../domain/inventory/metamodel/changes/changes.run.ts';
import { processes } from '../domain/kernel/jobs/jobs.running.ts';

export const metamodelChangeProcessor = processes(metamodelChangeJob, runMetamodelChange);
