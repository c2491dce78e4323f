import type { UndoSpec } from '../../kernel/undo/undo.types.ts';

/** Decisions are plain rows; the status of clusters follows from them, and is told with them. */
export const duplicateUndo: UndoSpec[] = [
  {
    entity: 'duplicate decision',
    table: 'duplicate_decisions',
    derived: ['has_lapsed'],
    events: {
      created: ['duplicate_decision.created'],
      updated: ['duplicate_decision.updated'],
      deleted: ['duplicate_decision.deleted'],
    },
  },
  {
    entity: 'duplicate cluster',
    table: 'duplicate_clusters',
    derived: ['cohesion', 'least_score', 'most_score', 'run_id', 'found_at'],
    events: { updated: ['duplicate_cluster.updated'] },
  },
];
