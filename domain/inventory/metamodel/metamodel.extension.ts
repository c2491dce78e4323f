import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { Extension } from '../../kernel/extensions.ts';
import {
  CardTypeDefinition,
  RelationTypeDefinition,
  StakeholderRoleDefinition,
} from '../../kernel/metamodel/metamodel.model.ts';
import { METAMODEL_TOPIC } from '../../kernel/metamodel/metamodel.store.ts';
import type { Resource, ResourceUndo } from '../../kernel/resources/resource.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import { metamodelChangeJob } from './changes/changes.run.ts';
import { undoCardType, undoRelationType, undoRole } from './changes/undo.ts';

/** Common parts of the definitions of types: their writes update the inventory, with their own events. */
const definition = (
  entity: 'card_type' | 'relation_type' | 'stakeholder_role',
  undo: ResourceUndo['undo'],
): Omit<Resource, 'model' | 'name' | 'transfer'> => {
  const types = (kind: string) => [`${entity}.${kind}` as EventType];
  return {
    events: { created: types('created'), updated: types('updated'), deleted: types('deleted') },
    topics: [METAMODEL_TOPIC],
    metamodel: true,
    undo: { right: needs('admin.metamodel'), undo },
  };
};
const timestamps = ['created_at', 'updated_at'];

/** Card types, relation types and stakeholder roles. */
export const metamodelExtension: Extension = {
  resources: [
    {
      model: CardTypeDefinition,
      name: 'card type',
      ...definition('card_type', undoCardType),
      transfer: { key: ['key'], omitted: timestamps, label: 't.key' },
    },
    {
      model: RelationTypeDefinition,
      name: 'relation type',
      ...definition('relation_type', undoRelationType),
      transfer: { key: ['key'], omitted: timestamps, label: 't.key' },
    },
    {
      model: StakeholderRoleDefinition,
      name: 'stakeholder role',
      ...definition('stakeholder_role', undoRole),
      transfer: {
        key: ['card_type_key', 'key'],
        omitted: ['id', ...timestamps],
        label: `t.card_type_key || '/' || t.key`,
      },
    },
  ],
  jobs: [metamodelChangeJob],
};
