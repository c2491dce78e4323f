import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { computedByRuns, duplicatesJob } from '../runs/runs.ts';
import {
  DuplicateCluster,
  DuplicateDecision,
  DuplicateModel,
  DuplicatePair,
  DuplicateState,
} from './duplicates.model.ts';

const right = needs('ai_analysis.manage');

/** Detection of duplicates. The status of clusters is derived from decisions about their pairs. */
export const duplicatesExtension: Extension = {
  resources: [
    {
      model: DuplicateDecision,
      name: 'duplicate decision',
      events: rowEvents('duplicate_decision'),
      undo: { right, derived: ['has_lapsed'] },
      transfer: {},
    },
    {
      model: DuplicateCluster,
      name: 'duplicate cluster',
      events: { updated: ['duplicate_cluster.updated'] },
      undo: { right, derived: ['cohesion', 'least_score', 'most_score', 'run_id', 'found_at'] },
      transfer: {
        excluded: 'derived',
        reason: 'The next run computes them again; archives contain the decisions about them.',
      },
    },
    { ...computedByRuns, model: DuplicateModel, name: 'learned model' },
    { ...computedByRuns, model: DuplicateState, name: 'state of a search' },
    { ...computedByRuns, model: DuplicatePair, name: 'pair of duplicates' },
  ],
  jobs: [duplicatesJob],
};
