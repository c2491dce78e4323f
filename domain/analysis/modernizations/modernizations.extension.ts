import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { computedByRuns, modernizationsJob } from '../runs/runs.ts';
import { Modernization, ModernizationDecision } from './modernizations.model.ts';

/** Modernization proposals, and the decisions about them. */
export const modernizationsExtension: Extension = {
  resources: [
    { ...computedByRuns, model: Modernization, name: 'modernization' },
    {
      model: ModernizationDecision,
      name: 'modernization decision',
      events: rowEvents('modernization_decision'),
      card: 'card_id',
      undo: { right: needs('ai_analysis.manage') },
      transfer: { matches: [['%.card_id', '%.modernization_type']] },
    },
  ],
  jobs: [modernizationsJob],
};
