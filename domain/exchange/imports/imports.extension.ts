import type { Extension } from '../../kernel/extensions.ts';
import { importJob } from './imports.job.ts';
import { removeStale } from './imports.staging.ts';

/** Imports. */
export const importsExtension: Extension = {
  jobs: [importJob],
  cleanups: { imports: removeStale },
};
