import type { Extension } from '../../kernel/extensions.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { Assessment } from './assessments.model.ts';

/** Sessions about target architectures. Undoing the batch that committed a session sets it to saved again. */
export const assessmentsExtension: Extension = {
  resources: [
    {
      model: Assessment,
      name: 'assessment',
      events: {
        created: ['assessment.created'],
        updated: ['assessment.updated'],
        deleted: ['assessment.deleted'],
      },
      undo: { right: needs('ai_analysis.manage') },
      transfer: { label: 't.title', costs: ['session_data'] },
    },
  ],
};
