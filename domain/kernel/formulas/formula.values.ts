/** The values of formulas: JSON values, never functions or prototypes. */
export type FormulaValue =
  | null
  | boolean
  | number
  | string
  | FormulaValue[]
  | { [key: string]: FormulaValue };

/** Counts the resources that a run uses. */
export interface Budget {
  /** @throws FormulaError beyond the limit. */
  spend(steps: number): void;
}

/** A member of a record or an item of a list; null if there is none. Only own properties are accessible. */
export function member(value: FormulaValue, key: FormulaValue): FormulaValue {
  if (value === null || typeof value !== 'object') return null;
  if (Array.isArray(value)) return typeof key === 'number' ? (value[key] ?? null) : null;
  return typeof key === 'string' && Object.hasOwn(value, key) ? (value[key] ?? null) : null;
}

/** A finite number; empty counts as 0, true as 1. @throws FormulaError for other values. */
export function number(value: FormulaValue): number {
  if (value === null) return 0;
  if (typeof value === 'boolean') return value ? 1 : 0;
  if (typeof value !== 'number') throw new FormulaError('A number is expected.');
  if (!Number.isFinite(value)) throw new FormulaError('The number is too large.');
  return value;
}

/** A value as text; empty is the empty text. `beside`: length of the text that it will be joined to, in characters. */
export function text(value: FormulaValue, beside = 0): string {
  if (value !== null && typeof value === 'object') throw new FormulaError('A text is expected, not a list.');
  const made = value === null ? '' : String(value);
  if (made.length + beside > formulaLimits.text) {
    throw new FormulaError(`A text has at most ${formulaLimits.text} characters.`);
  }
  return made;
}

/** @throws FormulaError unless it is a list; empty is the empty list. */
function list(value: FormulaValue, budget: Budget): FormulaValue[] {
  if (value === null) return [];
  if (!Array.isArray(value)) throw new FormulaError('A list is expected.');
  budget.spend(value.length);
  return value;
}

/** All values are true except empty, false, 0, the empty text and the empty list. */
export function truthy(value: FormulaValue): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** Number of characters of two texts whose comparison counts as one step. */
const COMPARED = 1_000;

/** Counts the comparison of two texts, which can be longer than a text that a formula creates. */
export function countTextComparison(left: string, right: string, budget: Budget): void {
  budget.spend(Math.floor(Math.min(left.length, right.length) / COMPARED));
}

/** Whether two scalar values are equal; lists and records are never equal. */
export function scalarsEqual(left: FormulaValue, right: FormulaValue, budget: Budget): boolean {
  if (typeof left === 'string' && typeof right === 'string' && left.length === right.length) {
    countTextComparison(left, right, budget);
  }
  return left === null || typeof left !== 'object' ? left === right : false;
}

/** A formula that cannot be parsed or evaluated; the message is for its author. */
export class FormulaError extends Error {}

/** The limits of one formula; a formula has no loops, so these limit its time and memory. */
export const formulaLimits = {
  /** Maximum length in characters. */
  length: 5_000,
  /** Maximum nesting of brackets. */
  brackets: 64,
  /** Maximum nesting of operations; a chain of sums or of `and` counts as one. */
  depth: 200,
  /** Maximum number of visited nodes and checked list items in one run. */
  steps: 100_000,
  /** Maximum length of a created text, in characters. */
  text: 10_000,
} as const;

type Apply = (args: FormulaValue[], budget: Budget) => FormulaValue;

/** A function with `least` to `most` arguments. */
function taking(name: string, least: number, most: number, apply: Apply): [string, Apply] {
  return [
    name,
    (args, budget) => {
      if (args.length >= least && args.length <= most) return apply(args, budget);
      const wanted = least === most ? least : `${least} to ${most}`;
      throw new FormulaError(`${name} takes ${wanted} values.`);
    },
  ];
}

/** The numbers among the arguments, or in the list that is the only argument; empty ones are ignored. */
function numbers(args: FormulaValue[], budget: Budget): number[] {
  const values = args.length === 1 && Array.isArray(args[0]) ? list(args[0], budget) : args;
  return values.filter((value) => value !== null).map(number);
}

const total = (values: number[]): number => number(values.reduce((sum, value) => sum + value, 0));

/** The number that `better` prefers to all previous ones. */
function best(values: number[], better: (a: number, b: number) => boolean): number | null {
  return values.reduce<number | null>(
    (kept, value) => (kept === null || better(value, kept) ? value : kept),
    null,
  );
}

/** Rounds half away from zero. */
function round([value, digits = 0]: FormulaValue[]): number | null {
  if (value === null || value === undefined) return null;
  const places = number(digits);
  if (!Number.isInteger(places) || Math.abs(places) > 12)
    throw new FormulaError('ROUND takes -12 to 12 digits.');
  const size = Math.abs(number(value));
  const rounded = Number(`${Math.round(Number(shift(size, places)))}`);
  return Math.sign(number(value)) * number(Number(shift(rounded, -places)));
}

/** Moves the decimal point in the decimal representation, so that 1.005 is not rounded down. */
function shift(value: number, places: number): string {
  const [digits, exponent = '0'] = String(value).split('e');
  return `${digits}e${Number(exponent) + places}`;
}

/**
 * Reads a member by a path such as `attributes.costTotalAnnual`: from the item itself, else from its attributes, else
 * from its relation. The path is parsed once for all items.
 */
function reader(path: FormulaValue, budget: Budget): (item: FormulaValue) => FormulaValue {
  const keys = text(path).split('.');
  // Finding a long name takes time in proportion to its length.
  const steps = keys.length + Math.floor(text(path).length / 100);
  return (item) => {
    budget.spend(steps);
    const reach = (from: FormulaValue) => keys.reduce<FormulaValue>((value, key) => member(value, key), from);
    return reach(item) ?? reach(member(item, 'attributes')) ?? reach(member(item, 'rel_attributes'));
  };
}

function toNumber(value: FormulaValue): number {
  if (typeof value !== 'string') return number(value);
  const read = value.trim() === '' ? Number.NaN : Number(value);
  if (!Number.isFinite(read)) throw new FormulaError('The text is not a number.');
  return read;
}

function contains([whole, part]: FormulaValue[], budget: Budget): boolean {
  if (Array.isArray(whole)) return list(whole, budget).some((item) => scalarsEqual(item, part!, budget));
  return text(whole!).toLowerCase().includes(text(part!).toLowerCase());
}

function length([value]: FormulaValue[]): number {
  if (value !== null && typeof value === 'object') {
    return Array.isArray(value) ? value.length : Object.keys(value).length;
  }
  // Characters as code points, not UTF-16 units.
  return [...text(value!)].length;
}

/** Whether a value is not empty, as results and filters count it. */
const isFilled = (value: FormulaValue): boolean => value !== null && value !== '';

const many = 1_000;
const sum: Apply = (args, budget) => total(numbers(args, budget));
const least: Apply = (args, budget) => best(numbers(args, budget), (a, b) => a < b);
const most: Apply = (args, budget) => best(numbers(args, budget), (a, b) => a > b);
const size: Apply = ([value]) => (value === null ? null : Math.abs(number(value!)));

/** The functions of the language by name; IF is in the evaluator, since it evaluates only one branch. */
export const formulaFunctions: ReadonlyMap<string, Apply> = new Map([
  taking('SUM', 1, many, sum),
  taking('sum', 1, many, sum),
  taking('MIN', 1, many, least),
  taking('min', 1, many, least),
  taking('MAX', 1, many, most),
  taking('max', 1, many, most),
  taking('AVG', 1, many, (args, budget) => {
    const values = numbers(args, budget);
    return values.length === 0 ? null : total(values) / values.length;
  }),
  taking('COUNT', 1, 1, ([value], budget) => list(value!, budget).filter(isFilled).length),
  taking('ROUND', 1, 2, round),
  taking('round', 1, 2, round),
  taking('ABS', 1, 1, size),
  taking('abs', 1, 1, size),
  taking('COALESCE', 1, many, (args) => args.find(isFilled) ?? null),
  taking('LOWER', 1, 1, ([value]) => text(text(value!).toLowerCase())),
  taking('UPPER', 1, 1, ([value]) => text(text(value!).toUpperCase())),
  taking('CONCAT', 1, many, (args) =>
    args.reduce<string>((made, value) => made + text(value, made.length), ''),
  ),
  taking('CONTAINS', 2, 2, contains),
  taking('PLUCK', 2, 2, ([items, path], budget) => list(items!, budget).map(reader(path!, budget))),
  taking('FILTER', 3, 3, ([items, path, value], budget) => {
    const read = reader(path!, budget);
    return list(items!, budget).filter((item) => scalarsEqual(read(item), value!, budget));
  }),
  taking('MAP_SCORE', 2, 3, ([value, scores, otherwise = null]) =>
    value === null ? otherwise : (member(scores!, text(value!)) ?? otherwise),
  ),
  taking('len', 1, 1, length),
  taking('str', 1, 1, ([value]) => text(value!)),
  taking('int', 1, 1, ([value]) => Math.trunc(toNumber(value!))),
  taking('float', 1, 1, ([value]) => toNumber(value!)),
  taking('bool', 1, 1, ([value]) => Boolean(Array.isArray(value) ? value.length : value)),
]);
