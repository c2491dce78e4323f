import type { Expression } from 'jsep';
import { FormulaError } from './formula.error.ts';
import { formulaFunctions } from './formula.functions.ts';
import { formulaLimits } from './formula.limits.ts';
import type { FormulaLine } from './formula.parse.ts';
import { type Budget, type FormulaValue, member, number, same, text, truthy } from './formula.values.ts';

/** What a formula can name: `data`, `relations`, `relation_count`, `children`, `children_count`. */
export type FormulaNames = Record<string, FormulaValue>;

/**
 * Runs a formula that was read before, within the limits; nothing but the given names and the functions of the
 * language can be reached.
 * @returns the last line's value.
 * @throws FormulaError for what cannot be computed, and for what is over a limit.
 */
export function evaluateFormula(lines: FormulaLine[], names: FormulaNames): FormulaValue {
  const known = new Map(Object.entries(names));
  const run = new Run(known);
  let last: FormulaValue = null;
  for (const { name, expression } of lines) {
    last = run.value(expression, 0);
    if (name !== null) known.set(name, last);
  }
  return last;
}

// jsep gives nodes as a loose record; each kind's members are those of its documentation.
type Node = Expression & Record<string, never>;

class Run implements Budget {
  private readonly names: Map<string, FormulaValue>;
  private steps = 0;

  constructor(names: Map<string, FormulaValue>) {
    this.names = names;
  }

  spend(steps: number): void {
    this.steps += steps;
    if (this.steps > formulaLimits.steps) throw new FormulaError('The formula takes too many steps.');
  }

  value(expression: Expression, depth: number): FormulaValue {
    this.spend(1);
    if (depth > formulaLimits.depth) throw new FormulaError('The formula is nested too deeply.');
    const node = expression as Node;
    const of = (inner: Expression) => this.value(inner, depth + 1);
    switch (node.type as string) {
      case 'Literal':
        return this.literal(node.value);
      case 'Identifier':
        return this.named(node.name);
      case 'MemberExpression':
        return member(of(node.object), node.computed ? of(node.property) : (node.property as Node).name);
      case 'ArrayExpression':
        return (node.elements as Expression[]).map(of);
      case 'ObjectExpression':
        return this.record(node.properties, of);
      case 'ConditionalExpression':
        return truthy(of(node.test)) ? of(node.consequent) : of(node.alternate);
      case 'UnaryExpression':
        return unary(node.operator, of(node.argument));
      case 'BinaryExpression':
        return this.binary(node, of);
      case 'CallExpression':
        return this.call(node, of);
      default:
        throw new FormulaError('The formula holds something that the language does not have.');
    }
  }

  private literal(value: unknown): FormulaValue {
    if (value === null || ['string', 'number', 'boolean'].includes(typeof value))
      return value as FormulaValue;
    throw new FormulaError('The formula holds a value that the language does not have.');
  }

  private named(name: string): FormulaValue {
    const value = this.names.get(name);
    if (value === undefined) throw new FormulaError(`The name '${name}' is not known.`);
    return value;
  }

  private record(properties: Expression[], of: (inner: Expression) => FormulaValue): FormulaValue {
    const made: Record<string, FormulaValue> = Object.create(null);
    for (const property of properties as Node[]) {
      const key = property.key as Node | undefined;
      if (property.type !== 'Property' || !key || property.computed || !property.value) {
        throw new FormulaError('A mapping is written {"key": value}.');
      }
      made[String(key.type === 'Identifier' ? key.name : key.value)] = of(property.value);
    }
    return made;
  }

  private call(node: Node, of: (inner: Expression) => FormulaValue): FormulaValue {
    const callee = node.callee as Node;
    const name = callee.type === 'Identifier' ? (callee.name as string) : '';
    const args = node.arguments as Expression[];
    // only the branch that is taken is computed, so that IF can guard a division
    if (name === 'IF') {
      if (args.length < 2 || args.length > 3) throw new FormulaError('IF takes 2 or 3 values.');
      if (truthy(of(args[0]!))) return of(args[1]!);
      return args[2] ? of(args[2]) : null;
    }
    const apply = formulaFunctions.get(name);
    if (!apply) throw new FormulaError(`There is no function '${name}'.`);
    return apply(args.map(of), this);
  }

  private binary(node: Node, of: (inner: Expression) => FormulaValue): FormulaValue {
    const operator = node.operator as string;
    const left = of(node.left);
    if (operator === '&&' || operator === 'and') return truthy(left) ? of(node.right) : left;
    if (operator === '||' || operator === 'or') return truthy(left) ? left : of(node.right);
    const right = of(node.right);
    switch (operator) {
      case '==':
        return same(left, right);
      case '!=':
        return !same(left, right);
      case '<':
      case '>':
      case '<=':
      case '>=':
        return compare(operator, left, right);
      case '+':
        if (typeof left === 'string' || typeof right === 'string')
          return text(left) + text(right, text(left).length);
        return number(number(left) + number(right));
      case '-':
        return number(number(left) - number(right));
      case '*':
        return number(number(left) * number(right));
      case '**':
        return number(number(left) ** number(right));
      case '/':
      case '%': {
        const divisor = number(right);
        if (divisor === 0) throw new FormulaError('Division by zero.');
        return number(operator === '/' ? number(left) / divisor : number(left) % divisor);
      }
      default:
        throw new FormulaError(`There is no operator '${operator}'.`);
    }
  }
}

function unary(operator: string, value: FormulaValue): FormulaValue {
  if (operator === '!') return !truthy(value);
  if (operator === '-') return -number(value);
  return number(value);
}

function compare(operator: string, left: FormulaValue, right: FormulaValue): boolean {
  if (left === null || right === null) return false;
  const texts = typeof left === 'string' && typeof right === 'string';
  const a = texts ? left : number(left);
  const b = texts ? right : number(right);
  if (operator === '<') return a < b;
  if (operator === '>') return a > b;
  return operator === '<=' ? a <= b : a >= b;
}
