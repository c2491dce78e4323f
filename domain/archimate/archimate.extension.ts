import type { Extension } from '../extensions.ts';
import { archimateExportJob, archimateImportJob } from './archimate.jobs.ts';

/** Exchange of ArchiMate models. */
export const archimateExtension: Extension = {
  jobs: [archimateImportJob, archimateExportJob],
};
