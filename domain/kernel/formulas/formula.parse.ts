import object from '@jsep-plugin/object';
import jsep from 'jsep';
import { FormulaError } from './formula.error.ts';
import { formulaLimits } from './formula.limits.ts';

jsep.plugins.register(object);
for (const operator of ['|', '^', '&', '<<', '>>', '>>>', '===', '!==', '??']) {
  jsep.removeBinaryOp(operator);
}
jsep.removeUnaryOp('~');
jsep.addBinaryOp('or', 1);
jsep.addBinaryOp('and', 2);
jsep.addUnaryOp('not');
jsep.addLiteral('True', true);
jsep.addLiteral('False', false);
jsep.addLiteral('None', null);

/** A node of an expression; which members it has depends on its type, as in ESTree. */
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

/** One line of a formula: an expression whose value may be given a name for the lines after it. */
export interface FormulaLine {
  name: string | null;
  expression: FormulaNode;
}

const assignment = /^\s*([A-Za-z_]\w*)\s*=(?!=)/;

/**
 * Reads a formula: lines of `x = expression` or `expression`; brackets may span lines, lines that begin with `#` are
 * remarks. Nothing is run.
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
 * Refuses what evaluation refuses as too deep, in branches that a run may not take as well. Without recursion, and like
 * evaluation it counts a row of operators as one level.
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

/** Lines, those within brackets joined; counts brackets so that the parser never meets a deep nest. */
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
