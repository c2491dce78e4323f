import type { LifecyclePhase } from '../domain/metamodel/metamodel.types.ts';
import { lifecyclePhases } from '../domain/metamodel/metamodel.types.ts';
import type { Column } from './extraction/extraction.types.ts';
import { column } from './report.formats.ts';

/** A text of ours or of the metamodel as an SQL literal, fit for a query with bindings. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''").replaceAll('?', '\\?')}'`;

/**
 * The text of a JSON array of items, each on a line of its own, so that long ones can be read line by line.
 * @param item SQL of one item's JSON. @param order what an ORDER BY holds.
 */
export const jsonLines = (item: string, order: string): string =>
  `'[' || coalesce(string_agg((${item})::text, E',\\n' order by ${order}), '') || ']'`;

/** A number among attributes, 0 where there is none. @param attributes SQL of the JSON object. */
export const numberIn = (attributes: string, key: string): string =>
  `case when jsonb_typeof(${attributes} -> ${literal(key)}) = 'number'
        then (${attributes} -> ${literal(key)})::numeric else 0 end`;

export type Lifecycle = Partial<Record<LifecyclePhase, string>> | null;

/** The phases of a lifecycle as columns of a table. */
export const lifecycleColumns: Column[] = lifecyclePhases.map((phase) => column(phase, 'date'));

/** The cells of {@link lifecycleColumns}. */
export const lifecycleCells = (lifecycle: Lifecycle): (string | undefined)[] =>
  lifecyclePhases.map((phase) => lifecycle?.[phase]);
