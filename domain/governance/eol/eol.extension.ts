import type { Extension } from '../../kernel/extensions.ts';
import { eolRefreshJob } from './eol.refresh.job.ts';

/** End-of-life facts. */
export const eolExtension: Extension = {
  jobs: [eolRefreshJob],
};
