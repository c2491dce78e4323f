import type { Extension } from '../../kernel/extensions.ts';
import { Calculation, CalculationRun } from '../../kernel/formulas/calculations.model.ts';
import { METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { undoCalculation } from './calculations.commands.ts';
import { calculationConsumers } from './calculations.references.ts';
import { recalculateJob } from './recalculate.type.ts';

/** Formulas that compute fields. */
export const calculationsExtension: Extension = {
  resources: [
    {
      model: Calculation,
      name: 'calculation',
      events: {
        created: ['calculation.created'],
        updated: ['calculation.updated', 'calculation.activated', 'calculation.deactivated'],
        deleted: ['calculation.deleted'],
      },
      topics: [METAMODEL_TOPIC],
      metamodel: true,
      // A formula that reads costs can reveal them through its result.
      undo: { right: needs('admin.metamodel', 'costs.view'), undo: undoCalculation },
      transfer: { label: 't.name' },
    },
    {
      model: CalculationRun,
      name: 'run of a calculation',
      events: {},
      undo: { refused: 'Runs have no events.' },
      transfer: { excluded: 'derived', reason: 'It is created with its formula.' },
    },
  ],
  consumers: [calculationConsumers],
  jobs: [recalculateJob],
};
