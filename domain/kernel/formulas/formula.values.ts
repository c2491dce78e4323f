import { FormulaError } from './formula.error.ts';
import { formulaLimits } from './formula.limits.ts';

/** What formulas compute with: JSON values, never functions or prototypes. */
export type FormulaValue =
  | null
  | boolean
  | number
  | string
  | FormulaValue[]
  | { [key: string]: FormulaValue };

/** Counts what a run uses. */
export interface Budget {
  /** @throws FormulaError beyond the limit. */
  spend(steps: number): void;
}

/** A member of a record or an item of a list; null where there is none. Only what the value itself holds is seen. */
export function member(value: FormulaValue, key: FormulaValue): FormulaValue {
  if (value === null || typeof value !== 'object') return null;
  if (Array.isArray(value)) return typeof key === 'number' ? (value[key] ?? null) : null;
  return typeof key === 'string' && Object.hasOwn(value, key) ? (value[key] ?? null) : null;
}

/** A finite number; empty counts as 0, true as 1. @throws FormulaError for all else. */
export function number(value: FormulaValue): number {
  if (value === null) return 0;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'number') throw new FormulaError('A number is expected.');
  if (!Number.isFinite(value)) throw new FormulaError('The number is too large.');
  return value;
}

/** A value as text; empty is the empty text. `beside`: characters that it will be joined to. */
export function text(value: FormulaValue, beside = 0): string {
  if (value !== null && typeof value === 'object') throw new FormulaError('A text is expected, not a list.');
  const made = value === null ? '' : String(value);
  if (made.length + beside > formulaLimits.text) {
    throw new FormulaError(`A text has at most ${formulaLimits.text} characters.`);
  }
  return made;
}

/** @throws FormulaError unless it is a list; empty is the empty list. */
export function list(value: FormulaValue, budget: Budget): FormulaValue[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new FormulaError('A list is expected.');
  budget.spend(value.length);
  return value;
}

/** Everything holds but empty, false, 0, the empty text and the empty list. */
export function truthy(value: FormulaValue): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Characters of two texts that are compared in one step. */
const COMPARED = 1_000;

/** Counts the comparison of two texts, which may be longer than a text that a formula makes. */
export function spendOnTexts(left: string, right: string, budget: Budget): void {
  budget.spend(Math.floor(Math.min(left.length, right.length) / COMPARED));
}

/** Whether two single values are equal; lists and records are equal to nothing. */
export function same(left: FormulaValue, right: FormulaValue, budget: Budget): boolean {
  if (typeof left === 'string' && typeof right === 'string' && left.length === right.length) {
    spendOnTexts(left, right, budget);
  }
  return left === null || typeof left !== 'object' ? left === right : false;
}
