import type { Extension } from '../../kernel/extensions.ts';
import { archimateExportJob, archimateImportJob } from './archimate.jobs.ts';

/** Exchange of ArchiMate models. */
export const archimateExtension: Extension = {
  jobs: [archimateImportJob, archimateExportJob],
};
