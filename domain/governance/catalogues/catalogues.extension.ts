import { rowEvents } from '../../kernel/events/row-changes.ts';
import type { Extension } from '../../kernel/extensions.ts';
import type { Resource } from '../../kernel/resources/resource.ts';
import { needs } from '../../kernel/undo/undo.types.ts';
import {
  CATALOGUES_TOPIC,
  type Catalogue,
  principles,
  regulations,
  resourceTypes,
} from './catalogue.commands.ts';

const resourceOf = ({ model, entity, event }: Catalogue, transfer: Resource['transfer']): Resource => ({
  model,
  name: entity,
  events: rowEvents(event),
  topics: [CATALOGUES_TOPIC],
  undo: { right: needs('admin.metamodel') },
  transfer,
});
const omitted = ['id', 'created_at', 'updated_at'];

/** Reference catalogues. */
export const cataloguesExtension: Extension = {
  resources: [
    resourceOf(principles, { matches: [['%.catalogue_id']], label: 't.title' }),
    resourceOf(regulations, { key: ['key'], omitted, label: 't.key' }),
    resourceOf(resourceTypes, { key: ['kind', 'key'], omitted, label: `t.kind || '/' || t.key` }),
  ],
};
