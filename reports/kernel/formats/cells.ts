import { csvText, joinValues } from '../../../domain/kernel/transfer/csv-cells.ts';
import type { Cell } from './formats.types.ts';

/** The text of a cell in formats without lists. */
export function cellText(cell: NonNullable<Cell>): string {
  if (typeof cell === 'string') return cell;
  return Array.isArray(cell) ? joinValues(cell.map(String)) : String(cell);
}

/** The text of a cell in CSV. @param guard whether formulas are neutralised. */
export function csvCell(cell: Cell, guard: boolean): string {
  if (cell === null || cell === undefined) return '';
  const text = cellText(cell);
  return typeof cell === 'number' || typeof cell === 'boolean' ? text : csvText(text, guard);
}
