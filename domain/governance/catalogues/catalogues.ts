import { labelsIn } from '../../inventory/metamodel/metamodel.list.ts';
import type { EventType } from '../../kernel/events/events.catalogue.ts';
import type { StoredRow } from '../../kernel/events/row-changes.ts';
import { columnMembers } from '../../kernel/lists/lists.members.ts';
import type { ListSpec, SortField } from '../../kernel/lists/lists.types.ts';
import type { RowModel } from '../../kernel/resources/rows.ts';
import { Principle, Regulation, ResourceType } from './catalogues.model.ts';

/** A small list that administrators maintain, such as the link types: the rows of one table. */
export interface Catalogue {
  model: RowModel;
  /** The name of one entry in errors, such as `principle`. */
  entity: string;
  events: { created: EventType; updated: EventType; deleted: EventType };
  /** The members of an entry, over the alias `t`, labels in the language. */
  list(language: string): ListSpec;
  /** The members of events that identify the entry, besides its id. */
  names(row: StoredRow): Record<string, unknown>;
  /** The unique index of its keys. */
  uniqueKey?: string;
  /** Whether labels are translated. */
  translated: boolean;
}

/** The topic that every change of a catalogue raises. */
export const CATALOGUES_TOPIC = 'catalogues';

const principleSorts: Record<string, SortField> = {
  sort_order: { sql: 't.sort_order', type: 'numeric' },
  title: { sql: 'fold(t.title)', type: 'text' },
  created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
};

/** The principles against which architecture decisions are checked. */
export const principles: Catalogue = {
  model: Principle,
  entity: 'principle',
  events: { created: 'principle.created', updated: 'principle.updated', deleted: 'principle.deleted' },
  names: ({ title }) => ({ title }),
  translated: false,
  list: () => ({
    name: 'principles',
    from: 'principles t',
    id: 't.id',
    sorts: principleSorts,
    defaultSort: 'sort_order',
    search: `fold(t.title || ' ' || coalesce(t.description, ''))`,
    members: columnMembers('t', Principle),
  }),
};

/** The lists of labelled keys that can be disabled. */
function labelled(name: string, model: RowModel, language: string): ListSpec {
  const labels = labelsIn(language);
  const label = labels.text('t', 'label');
  return {
    name,
    from: `${model.tableName} t`,
    id: 't.id',
    sorts: {
      sort_order: { sql: 't.sort_order', type: 'numeric' },
      label: { sql: `fold(${label})`, type: 'text' },
      key: { sql: 't.key', type: 'text', immutable: true },
    },
    defaultSort: 'sort_order',
    search: `fold(t.key || ' ' || ${label})`,
    members: { ...columnMembers('t', model), label },
  };
}

/** The regulations of compliance scans, which also read the descriptions. */
export const regulations: Catalogue = {
  model: Regulation,
  entity: 'regulation',
  events: { created: 'regulation.created', updated: 'regulation.updated', deleted: 'regulation.deleted' },
  names: ({ key }) => ({ key }),
  uniqueKey: 'compliance_regulations_key',
  translated: true,
  list: (language) => labelled('compliance-regulations', Regulation, language),
};

/** Types of links and categories of files. */
export const resourceTypes: Catalogue = {
  model: ResourceType,
  entity: 'resource type',
  events: {
    created: 'resource_type.created',
    updated: 'resource_type.updated',
    deleted: 'resource_type.deleted',
  },
  names: ({ kind, key }) => ({ kind, key }),
  uniqueKey: 'resource_types_key',
  translated: true,
  list: (language) => labelled('resource-types', ResourceType, language),
};
