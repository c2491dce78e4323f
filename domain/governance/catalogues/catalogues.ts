import { labelsIn } from '../../inventory/metamodel/metamodel.list.ts';
import type { ListSpec } from '../../kernel/lists/lists.types.ts';
import type { Catalogue } from './catalogue.types.ts';

const stamps = { created_at: 'utc(t.created_at)', updated_at: 'utc(t.updated_at)' };

/** The principles that architecture decisions are held against. */
export const principles: Catalogue = {
  table: 'principles',
  entity: 'principle',
  events: { created: 'principle.created', updated: 'principle.updated', deleted: 'principle.deleted' },
  names: ({ title }) => ({ title }),
  translated: false,
  list: () => ({
    name: 'principles',
    from: 'principles t',
    id: 't.id',
    idType: 'uuid',
    sorts: {
      sort_order: { sql: 't.sort_order', type: 'numeric' },
      title: { sql: 'fold(t.title)', type: 'text' },
      created_at: { sql: 't.created_at', type: 'timestamptz', immutable: true },
    },
    defaultSort: 'sort_order',
    defaultDir: 'asc',
    search: `fold(t.title || ' ' || coalesce(t.description, ''))`,
    members: {
      id: 't.id',
      title: 't.title',
      description: 't.description',
      rationale: 't.rationale',
      implications: 't.implications',
      is_active: 't.is_active',
      sort_order: 't.sort_order',
      catalogue_id: 't.catalogue_id',
      ...stamps,
    },
  }),
};

/** The lists of labelled keys that can be disabled. */
function labelled(name: string, table: string, more: Record<string, string>, language: string): ListSpec {
  const labels = labelsIn(language);
  const label = labels.text('t', 'label');
  return {
    name,
    from: `${table} t`,
    id: 't.id',
    idType: 'uuid',
    sorts: {
      sort_order: { sql: 't.sort_order', type: 'numeric' },
      label: { sql: `fold(${label})`, type: 'text' },
      key: { sql: 't.key', type: 'text', immutable: true },
    },
    defaultSort: 'sort_order',
    defaultDir: 'asc',
    search: `fold(t.key || ' ' || ${label})`,
    members: {
      id: 't.id',
      ...more,
      key: 't.key',
      label,
      description: 't.description',
      is_enabled: 't.is_enabled',
      built_in: 't.built_in',
      sort_order: 't.sort_order',
      translations: 't.translations',
      ...stamps,
    },
  };
}

/** The regulations that compliance scans look at; a description is handed to the scan. */
export const regulations: Catalogue = {
  table: 'compliance_regulations',
  entity: 'regulation',
  events: { created: 'regulation.created', updated: 'regulation.updated', deleted: 'regulation.deleted' },
  names: ({ key }) => ({ key }),
  uniqueKey: 'compliance_regulations_key',
  translated: true,
  list: (language) => labelled('compliance-regulations', 'compliance_regulations', {}, language),
};

/** Types of links and categories of files. */
export const resourceTypes: Catalogue = {
  table: 'resource_types',
  entity: 'resource type',
  events: {
    created: 'resource_type.created',
    updated: 'resource_type.updated',
    deleted: 'resource_type.deleted',
  },
  names: ({ kind, key }) => ({ kind, key }),
  uniqueKey: 'resource_types_key',
  translated: true,
  list: (language) =>
    labelled('resource-types', 'resource_types', { kind: 't.kind', icon: 't.icon' }, language),
};
