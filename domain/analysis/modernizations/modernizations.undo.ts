import type { UndoSpec } from '../../kernel/undo/undo.types.ts';

/** Decisions are plain rows; what is proposed follows from runs. */
export const modernizationUndo: UndoSpec[] = [
  {
    entity: 'modernisation decision',
    table: 'modernization_decisions',
    events: {
      created: ['modernization_decision.created'],
      updated: ['modernization_decision.updated'],
      deleted: ['modernization_decision.deleted'],
    },
  },
];
