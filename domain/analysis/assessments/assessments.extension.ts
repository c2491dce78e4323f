import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { Assessment } from './assessments.commands.ts';

/** Sessions about target architectures. Undoing the batch that committed a session sets it to saved again. */
export const assessmentsExtension: Extension = {
  resources: [
    {
      model: Assessment,
      name: 'assessment',
      events: rowEvents('assessment'),
      undo: { right: needs('ai_analysis.manage') },
      transfer: { label: 't.title', costs: ['session_data'] },
    },
  ],
};
