import type { Extension } from '../../kernel/extensions.ts';
import { modernizationsJob } from './modernizations.job.ts';
import { modernizationUndo } from './modernizations.undo.ts';

/** Modernization proposals. */
export const modernizationsExtension: Extension = {
  undo: modernizationUndo,
  jobs: [modernizationsJob],
};
