import { contentTables } from './workspace.tables.data.ts';
import type { ContentTable } from './workspace.types.ts';

/** By the name of the table. */
export const contentTable: ReadonlyMap<string, ContentTable> = new Map(
  contentTables.map((table) => [table.table, table]),
);

/** The parts of an archive that are no table as they are. */
export const PEOPLE = 'users';
export const SETTINGS = 'settings';
