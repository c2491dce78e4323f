import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { RelationOldValue } from '../cards/cards.model.ts';
import { MANAGE } from './relations.admit.ts';
import { Relation } from './relations.model.ts';

/** Relations of cards. */
export const relationsExtension: Extension = {
  resources: [
    {
      model: Relation,
      name: 'relation',
      events: rowEvents('relation'),
      undo: { right: needs(MANAGE), inSets: true },
      transfer: { matches: [['%.type', '%.source_id', '%.target_id']], label: `t.type || '/' || t.id` },
      asOf: { byKey: ['attributes'] },
    },
    {
      model: RelationOldValue,
      name: 'old value of a relation',
      events: {},
      undo: { refused: 'A trigger derives them from events.' },
      transfer: { excluded: 'service', reason: 'The history belongs to the service in which it happened.' },
    },
  ],
};
