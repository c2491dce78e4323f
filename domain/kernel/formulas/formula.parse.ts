import object from '@jsep-plugin/object';
import jsep from 'jsep';
import { FormulaError, formulaFunctions, formulaLimits } from './formula.values.ts';

jsep.plugins.register(object);
for (const operator of ['|', '^', '&', '<<', '>>', '>>>', '===', '!==', '??']) jsep.removeBinaryOp(operator);
jsep.removeUnaryOp('~');
jsep.addBinaryOp('or', 1);
jsep.addBinaryOp('and', 2);
jsep.addUnaryOp('not');
jsep.addLiteral('True', true);
jsep.addLiteral('False', false);
jsep.addLiteral('None', null);

/** A node of an expression; its members depend on its type, as in ESTree. */
export interface FormulaNode {
  type: string;
  operator: string;
  name: string;
  computed: boolean;
  /** A literal's value, or the node of an object's member. */
  value: unknown;
  key: FormulaNode | undefined;
  left: FormulaNode;
  right: FormulaNode;
  object: FormulaNode;
  property: FormulaNode;
  test: FormulaNode;
  consequent: FormulaNode;
  alternate: FormulaNode;
  argument: FormulaNode;
  callee: FormulaNode;
  arguments: FormulaNode[];
  elements: FormulaNode[];
  properties: FormulaNode[];
}

/** One line of a formula: an expression whose value can be assigned to a name for the following lines. */
export interface FormulaLine {
  name: string | null;
  expression: FormulaNode;
}

const assignment = /^\s*([A-Za-z_]\w*)\s*=(?!=)/;

/**
 * Parses a formula: lines of `x = expression` or `expression`; expressions in brackets may span lines, lines that begin
 * with `#` are comments. Nothing is evaluated.
 * @throws FormulaError naming the line.
 */
export function parseFormula(formula: string): FormulaLine[] {
  if (formula.length > formulaLimits.length) {
    throw new FormulaError(`A formula has at most ${formulaLimits.length} characters.`);
  }
  const lines: FormulaLine[] = [];
  for (const { text, line } of logicalLines(formula)) {
    const name = assignment.exec(text)?.[1] ?? null;
    const source = name === null ? text : text.replace(assignment, '');
    lines.push({ name, expression: parseExpression(source, line) });
  }
  if (lines.length === 0) throw new FormulaError('The formula is empty.');
  return lines;
}

function parseExpression(source: string, line: number): FormulaNode {
  let expression: FormulaNode;
  try {
    expression = jsep(source) as unknown as FormulaNode;
  } catch (error) {
    if (error instanceof RangeError) throw new FormulaError(`Line ${line}: nested too deeply.`);
    throw new FormulaError(`Line ${line}: ${(error as Error).message}`);
  }
  if (expression.type === 'Compound') {
    throw new FormulaError(`Line ${line}: one expression is expected, and an operator between two values.`);
  }
  boundDepth(expression, line);
  return expression;
}

/**
 * Refuses expressions that evaluation would refuse as too deep, also in branches that may not be evaluated. Iterative;
 * like evaluation it counts a chain of operators as one level.
 */
function boundDepth(top: FormulaNode, line: number): void {
  const pending: [FormulaNode | null, number][] = [[top, 0]];
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [node, depth] = next;
    if (!node) throw new FormulaError(`Line ${line}: a value is missing between two commas.`);
    if (depth > formulaLimits.depth) throw new FormulaError(`Line ${line}: nested too deeply.`);
    for (const part of partsOf(node))
      pending.push([part, isRow(node) && part === node.left && isRow(part) ? depth : depth + 1]);
  }
}

const isRow = ({ type }: FormulaNode): boolean => type === 'BinaryExpression' || type === 'LogicalExpression';

/** The nodes that evaluation enters from a node. */
function partsOf(node: FormulaNode): (FormulaNode | null)[] {
  switch (node.type) {
    case 'MemberExpression':
      return node.computed ? [node.object, node.property] : [node.object];
    case 'ArrayExpression':
      return node.elements;
    case 'ObjectExpression':
      return node.properties.flatMap(({ value }) => (value ? [value as FormulaNode] : []));
    case 'ConditionalExpression':
      return [node.test, node.consequent, node.alternate];
    case 'UnaryExpression':
      return [node.argument];
    case 'BinaryExpression':
    case 'LogicalExpression':
      return [node.left, node.right];
    case 'CallExpression':
      return node.arguments;
    default:
      return [];
  }
}

/** Lines, with those inside brackets joined; counts brackets so that the parser never gets a deeply nested expression. */
function* logicalLines(formula: string): Generator<{ text: string; line: number }> {
  let text = '';
  let first = 1;
  let depth = 0;
  for (const [index, raw] of formula.split(/\r\n|[\r\n]/).entries()) {
    if (text === '') {
      first = index + 1;
      if (/^\s*(#|$)/.test(raw)) continue;
    }
    depth = depthAfter(raw, depth, index + 1);
    text += text === '' ? raw : ` ${raw}`;
    if (depth > 0) continue;
    yield { text, line: first };
    text = '';
  }
  if (text !== '') throw new FormulaError(`Line ${first}: a bracket is not closed.`);
}

function depthAfter(raw: string, before: number, line: number): number {
  let depth = before;
  let quote = '';
  for (let at = 0; at < raw.length; at += 1) {
    const char = raw[at]!;
    if (quote !== '') {
      if (char === '\\') at += 1;
      else if (char === quote) quote = '';
    } else if (char === '"' || char === "'") quote = char;
    else if ('([{'.includes(char)) depth += 1;
    else if (')]}'.includes(char)) depth -= 1;
    if (depth > formulaLimits.brackets) throw new FormulaError(`Line ${line}: nested too deeply.`);
    if (depth < 0) throw new FormulaError(`Line ${line}: a bracket is closed that was not opened.`);
  }
  return depth;
}

/** The values that a formula reads, determined without evaluating it. It can read no other values. */
export interface FormulaReads {
  /** The card's own fields. */
  data: ReadonlySet<string>;
  /** Relation types whose related cards are read. */
  relations: ReadonlySet<string>;
  /** Relation types that are counted. */
  counts: ReadonlySet<string>;
  children: boolean;
  childrenCount: boolean;
  /** Every member that is read from anything but `data`: keys of related cards, their attributes and relations. */
  members: ReadonlySet<string>;
}

/** Functions whose second argument is a path, as a literal. */
const byPath = new Set(['PLUCK', 'FILTER']);
const keyed = { data: 'field', relations: 'relation type', relation_count: 'relation type' } as const;
const reserved = new Set([...Object.keys(keyed), 'children', 'children_count']);

/**
 * Determines which values a formula reads, and that it uses no unknown names.
 * @throws FormulaError.
 */
export function readsOf(lines: FormulaLine[]): FormulaReads {
  const reader = new Reader();
  for (const { name, expression } of lines) {
    reader.walk(expression);
    if (name === null) continue;
    if (reserved.has(name)) throw new FormulaError(`The name '${name}' cannot be given another value.`);
    reader.known.add(name);
  }
  return reader;
}

class Reader implements FormulaReads {
  readonly known = new Set<string>();
  readonly data = new Set<string>();
  readonly relations = new Set<string>();
  readonly counts = new Set<string>();
  readonly members = new Set<string>();
  children = false;
  childrenCount = false;

  /** Iterative: a chain of operators may be as long as the formula. */
  walk(top: FormulaNode): void {
    const left = [top];
    for (let node = left.pop(); node; node = left.pop()) left.push(...this.enter(node));
  }

  /** @returns the parts that are still to be checked. */
  private enter(node: FormulaNode): FormulaNode[] {
    switch (node.type as string) {
      case 'Literal':
        return [];
      case 'Identifier':
        this.named(node.name);
        return [];
      case 'MemberExpression':
        return this.member(node);
      case 'ArrayExpression':
        return node.elements;
      case 'ObjectExpression':
        return node.properties.map((property) => memberValue(property));
      case 'ConditionalExpression':
        return [node.test, node.consequent, node.alternate];
      case 'UnaryExpression':
        return [node.argument];
      case 'BinaryExpression':
      case 'LogicalExpression':
        return [node.left, node.right];
      case 'CallExpression':
        return this.call(node);
      default:
        throw new FormulaError('The formula holds something that the language does not have.');
    }
  }

  private named(name: string): void {
    if (name === 'children') this.children = true;
    else if (name === 'children_count') this.childrenCount = true;
    else if (Object.hasOwn(keyed, name)) throw keyNeeded(name as keyof typeof keyed);
    else if (!this.known.has(name)) throw new FormulaError(`The name '${name}' is not known.`);
  }

  private member(node: FormulaNode): FormulaNode[] {
    const object = node.object;
    const property = node.property;
    const literal = property.type === 'Literal' ? (property.value as unknown) : undefined;
    const key = node.computed ? literal : (property.name as string);
    if (object.type === 'Identifier' && Object.hasOwn(keyed, object.name)) {
      const root = object.name as keyof typeof keyed;
      if (typeof key !== 'string') throw keyNeeded(root);
      ({ data: this.data, relations: this.relations, relation_count: this.counts })[root].add(key);
      return [];
    }
    if (typeof key !== 'string' && typeof key !== 'number') {
      throw new FormulaError('What stands in square brackets is a number or a text, written out.');
    }
    if (typeof key === 'string') this.members.add(key);
    return [object];
  }

  private call(node: FormulaNode): FormulaNode[] {
    const callee = node.callee;
    const args = node.arguments;
    const name = callee.type === 'Identifier' ? (callee.name as string) : '';
    if (name !== 'IF' && !formulaFunctions.has(name)) {
      throw new FormulaError(name ? `There is no function '${name}'.` : 'Only functions can be called.');
    }
    const path = args[1];
    if (!byPath.has(name) || !path) return args;
    if (path.type !== 'Literal' || typeof (path.value as unknown) !== 'string') {
      throw new FormulaError(`${name} takes the name of a member, written out as a text.`);
    }
    for (const key of (path.value as string).split('.')) this.members.add(key);
    return args.filter((arg) => arg !== path);
  }
}

function memberValue(property: FormulaNode): FormulaNode {
  if (property.type !== 'Property' || property.computed || !property.value) {
    throw new FormulaError('A mapping is written {"key": value}.');
  }
  return property.value as FormulaNode;
}

function keyNeeded(root: keyof typeof keyed): FormulaError {
  return new FormulaError(`'${root}' is followed by a ${keyed[root]}: ${root}.<${keyed[root]}>.`);
}
