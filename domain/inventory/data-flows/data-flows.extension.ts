import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { MANAGE } from '../relations/relations.admit.ts';
import { deleteFlowsOfCards, mergeFlows } from './data-flows.attached.ts';
import { DATA_FLOWS_TOPIC, DataFlow } from './data-flows.model.ts';

/** Data flows between cards. */
export const dataFlowsExtension: Extension = {
  resources: [
    {
      model: DataFlow,
      name: 'data flow',
      events: rowEvents('data_flow'),
      card: 'source_id',
      topics: [DATA_FLOWS_TOPIC],
      undo: { right: needs(MANAGE) },
      cardReferences: [
        { column: 'source_id', beforeMerge: mergeFlows },
        { column: 'target_id' },
        { column: 'interface_id' },
      ],
      transfer: { matches: [['%.external_id']] },
      asOf: true,
    },
  ],
  deleteWithCards: deleteFlowsOfCards,
};
