import { readFileSync } from 'node:fs';
import type { Cell } from '../../../support/workbook.ts';

/** The sheets of a file beside this one; texts that are timestamps become cells with a date. */
const sheetsIn = (file: string): Record<string, Cell[][]> =>
  JSON.parse(readFileSync(new URL(file, import.meta.url), 'utf8'), (_, value) =>
    typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? new Date(value) : value,
  );

/** A small snapshot as LeanIX writes one, with some of everything that can be wrong in it. */
export const snapshot = sheetsIn('./snapshot.json');

/**
 * A full snapshot as LeanIX writes one: a sheet for each type of fact sheets and of relations, keys above labels, and sheets
 * for what belongs to fact sheets, with their type in the column `type`.
 */
export const fullSnapshot = sheetsIn('./full-snapshot.json');
