import type { Extension } from '../extensions.ts';
import { eolRefreshJob } from './eol.refresh.job.ts';

/** End-of-life facts. */
export const eolExtension: Extension = {
  jobs: [eolRefreshJob],
};
