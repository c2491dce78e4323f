import type { FormulaLine, FormulaNode } from './formula.parse.ts';
import {
  type Budget,
  countTextComparison,
  FormulaError,
  type FormulaValue,
  formulaFunctions,
  formulaLimits,
  member,
  number,
  scalarsEqual,
  text,
  truthy,
} from './formula.values.ts';

/** The values that a formula can use, by name: `data`, `relations`, `relation_count`, `children`, `children_count`. */
export type FormulaNames = Record<string, FormulaValue>;

/**
 * Evaluates a parsed formula within the limits; it can access only the given values and the functions of the language.
 * @returns the last line's value.
 * @throws FormulaError if it cannot be computed or exceeds a limit.
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

  value(node: FormulaNode, depth: number): FormulaValue {
    this.spend(1);
    if (depth > formulaLimits.depth) throw new FormulaError('The formula is nested too deeply.');
    const of = (inner: FormulaNode) => this.value(inner, depth + 1);
    switch (node.type as string) {
      case 'Literal':
        return this.literal(node.value);
      case 'Identifier':
        return this.named(node.name);
      case 'MemberExpression':
        return member(of(node.object), node.computed ? of(node.property) : node.property.name);
      case 'ArrayExpression':
        return node.elements.map(of);
      case 'ObjectExpression':
        return this.record(node.properties, of);
      case 'ConditionalExpression':
        return truthy(of(node.test)) ? of(node.consequent) : of(node.alternate);
      case 'UnaryExpression':
        return unary(node.operator, of(node.argument));
      case 'BinaryExpression':
      case 'LogicalExpression':
        return this.binary(node, depth);
      case 'CallExpression':
        return this.call(node, of);
      default:
        throw new FormulaError('The formula holds something that the language does not have.');
    }
  }

  private literal(value: unknown): FormulaValue {
    // The parser reads a literal such as 1e400 as Infinity.
    if (typeof value === 'number') return number(value);
    if (value === null || ['string', 'boolean'].includes(typeof value)) return value as FormulaValue;
    throw new FormulaError('The formula holds a value that the language does not have.');
  }

  private named(name: string): FormulaValue {
    const value = this.names.get(name);
    if (value === undefined) throw new FormulaError(`The name '${name}' is not known.`);
    return value;
  }

  private record(properties: FormulaNode[], of: (inner: FormulaNode) => FormulaValue): FormulaValue {
    const made: Record<string, FormulaValue> = Object.create(null);
    for (const property of properties) {
      const key = property.key;
      if (property.type !== 'Property' || !key || property.computed || !property.value) {
        throw new FormulaError('A mapping is written {"key": value}.');
      }
      made[String(key.type === 'Identifier' ? key.name : key.value)] = of(property.value as FormulaNode);
    }
    return made;
  }

  private call(node: FormulaNode, of: (inner: FormulaNode) => FormulaValue): FormulaValue {
    const callee = node.callee;
    const name = callee.type === 'Identifier' ? (callee.name as string) : '';
    const args = node.arguments;
    // Only the selected branch is evaluated, so that IF can guard a division.
    if (name === 'IF') {
      if (args.length < 2 || args.length > 3) throw new FormulaError('IF takes 2 or 3 values.');
      if (truthy(of(args[0]!))) return of(args[1]!);
      return args[2] ? of(args[2]) : null;
    }
    const apply = formulaFunctions.get(name);
    if (!apply) throw new FormulaError(`There is no function '${name}'.`);
    return apply(args.map(of), this);
  }

  /** A chain of operators is left-associative: it is evaluated iteratively, so that its length does not count as depth. */
  private binary(top: FormulaNode, depth: number): FormulaValue {
    const row: FormulaNode[] = [];
    let first = top;
    while (first.type === 'BinaryExpression' || first.type === 'LogicalExpression') {
      row.push(first);
      first = first.left;
    }
    let left = this.value(first, depth + 1);
    for (const node of row.reverse()) {
      this.spend(1);
      left = this.operate(node.operator, left, () => this.value(node.right, depth + 1));
    }
    return left;
  }

  private operate(operator: string, left: FormulaValue, rightOf: () => FormulaValue): FormulaValue {
    if (operator === '&&' || operator === 'and') return truthy(left) ? rightOf() : left;
    if (operator === '||' || operator === 'or') return truthy(left) ? left : rightOf();
    const right = rightOf();
    switch (operator) {
      case '==':
        return scalarsEqual(left, right, this);
      case '!=':
        return !scalarsEqual(left, right, this);
      case '<':
      case '>':
      case '<=':
      case '>=':
        return compare(operator, left, right, this);
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
  if (operator === '!' || operator === 'not') return !truthy(value);
  if (operator === '-') return -number(value);
  return number(value);
}

function compare(operator: string, left: FormulaValue, right: FormulaValue, budget: Budget): boolean {
  if (left === null || right === null) return false;
  const texts = typeof left === 'string' && typeof right === 'string';
  if (texts) countTextComparison(left, right, budget);
  const a = texts ? left : number(left);
  const b = texts ? right : number(right);
  if (operator === '<') return a < b;
  if (operator === '>') return a > b;
  return operator === '<=' ? a <= b : a >= b;
}
