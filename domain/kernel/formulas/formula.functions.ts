import { FormulaError } from './formula.error.ts';
import { type Budget, type FormulaValue, list, member, number, same, text } from './formula.values.ts';

type Apply = (args: FormulaValue[], budget: Budget) => FormulaValue;

/** A function that takes from `least` to `most` values. */
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

/** The numbers among the arguments, or in the list that is the only one; empty ones are left out. */
function numbers(args: FormulaValue[], budget: Budget): number[] {
  const values = args.length === 1 && Array.isArray(args[0]) ? list(args[0], budget) : args;
  return values.filter((value) => value !== null).map(number);
}

const total = (values: number[]): number => number(values.reduce((sum, value) => sum + value, 0));

/** One of the numbers: the one that `better` prefers to all before it. */
function best(values: number[], better: (a: number, b: number) => boolean): number | null {
  return values.reduce<number | null>(
    (kept, value) => (kept === null || better(value, kept) ? value : kept),
    null,
  );
}

/** Half away from zero, as people round. */
function round([value, digits = 0]: FormulaValue[]): number | null {
  if (value === null || value === undefined) return null;
  const places = number(digits);
  if (!Number.isInteger(places) || Math.abs(places) > 12)
    throw new FormulaError('ROUND takes -12 to 12 digits.');
  const size = Math.abs(number(value));
  const rounded = Number(`${Math.round(Number(shift(size, places)))}`);
  return Math.sign(number(value)) * number(Number(shift(rounded, -places)));
}

/** Moves the decimal point in the decimal form, so that 1.005 is not taken for a little less. */
function shift(value: number, places: number): string {
  const [digits, exponent = '0'] = String(value).split('e');
  return `${digits}e${Number(exponent) + places}`;
}

/**
 * Reads a member by a path such as `attributes.costTotalAnnual`: of the item itself, else of its attributes, else of the
 * relation's. The path is split once for all items.
 */
function reader(path: FormulaValue, budget: Budget): (item: FormulaValue) => FormulaValue {
  const keys = text(path).split('.');
  // finding a long name takes time in proportion to its length
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
  if (Array.isArray(whole)) return list(whole, budget).some((item) => same(item, part!, budget));
  return text(whole!).toLowerCase().includes(text(part!).toLowerCase());
}

function length([value]: FormulaValue[]): number {
  if (value !== null && typeof value === 'object') {
    return Array.isArray(value) ? value.length : Object.keys(value).length;
  }
  // characters as names count them, not UTF-16 units
  return [...text(value!)].length;
}

const many = 1_000;
const sum: Apply = (args, budget) => total(numbers(args, budget));
const least: Apply = (args, budget) => best(numbers(args, budget), (a, b) => a < b);
const most: Apply = (args, budget) => best(numbers(args, budget), (a, b) => a > b);
const size: Apply = ([value]) => (value === null ? null : Math.abs(number(value!)));

/** The functions of the language by name; IF stands in the evaluator, since it computes one branch only. */
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
  taking('COUNT', 1, 1, ([value], budget) => list(value!, budget).filter((item) => item !== null).length),
  taking('ROUND', 1, 2, round),
  taking('round', 1, 2, round),
  taking('ABS', 1, 1, size),
  taking('abs', 1, 1, size),
  taking('COALESCE', 1, many, (args) => args.find((value) => value !== null) ?? null),
  taking('LOWER', 1, 1, ([value]) => text(text(value!).toLowerCase())),
  taking('UPPER', 1, 1, ([value]) => text(text(value!).toUpperCase())),
  taking('CONCAT', 1, many, (args) =>
    args.reduce<string>((made, value) => made + text(value, made.length), ''),
  ),
  taking('CONTAINS', 2, 2, contains),
  taking('PLUCK', 2, 2, ([items, path], budget) => list(items!, budget).map(reader(path!, budget))),
  taking('FILTER', 3, 3, ([items, path, value], budget) => {
    const read = reader(path!, budget);
    return list(items!, budget).filter((item) => same(read(item), value!, budget));
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
