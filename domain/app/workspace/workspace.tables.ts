import type { Resource } from '../../kernel/resources/resource.ts';
import { resources } from '../resources.ts';
import { type LeftOut, excludedTables as otherTables } from './workspace.left-out.data.ts';
import { tableOrder } from './workspace.tables.data.ts';
import type { ContentTable } from './workspace.types.ts';

/** How a resource is exported to archives; undefined if it is not. */
function contentTableOf(resource: Resource): ContentTable | undefined {
  const { model, name, events, card, topics, metamodel, transfer } = resource;
  if ('excluded' in transfer) return undefined;
  const { silent, insertOnly, replaced } = transfer;
  const [created] = events.created ?? [];
  const [updated] = (replaced ? events.created : events.updated) ?? [];
  return {
    ...{ key: ['id'], label: 't.id::text', ...transfer },
    ...{ table: model.tableName, name, card, topics, metamodel },
    events: created && !silent ? { created, updated: insertOnly ? undefined : updated } : undefined,
  };
}

const declared: ReadonlyMap<string, ContentTable> = new Map(
  resources.flatMap((resource) => {
    const table = contentTableOf(resource);
    return table ? [[table.table, table]] : [];
  }),
);

/** All tables that go into archives, each after those that it refers to. */
export const contentTables: readonly ContentTable[] = [
  ...tableOrder.map((table) => (typeof table === 'string' ? declared.get(table)! : table)),
  ...[...declared.values()].filter(({ table }) => !tableOrder.includes(table)),
];

/** Every table that is not in archives, with the reason. */
export const leftOut: Readonly<Record<string, LeftOut>> = {
  ...otherTables,
  ...Object.fromEntries(
    resources.flatMap(({ model, transfer }) =>
      'excluded' in transfer ? [[model.tableName, { class: transfer.excluded, why: transfer.reason }]] : [],
    ),
  ),
};

/** By the name of the table. */
export const contentTable: ReadonlyMap<string, ContentTable> = new Map(
  contentTables.map((table) => [table.table, table]),
);

/** The parts of an archive that are not simply tables. */
export const PEOPLE = 'users';
export const SETTINGS = 'settings';
