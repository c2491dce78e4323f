import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseSync } from 'rolldown/utils';
import { codeLines, sourceFiles } from './count.ts';

/** Bounds of one function of the product: lines of code, and branches on the way through it. */
export const functionLimits = { lines: 120, branches: 25 };

/** A function that exceeds a bound. */
export interface LargeFunction {
  /** File and line where it begins, such as `api/app.ts:25`. */
  place: string;
  lines: number;
  branches: number;
}

type Node = { type: string; start: number; end: number; operator?: string; test?: unknown };

const branchTypes = new Set([
  'IfStatement',
  'ConditionalExpression',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'WhileStatement',
  'DoWhileStatement',
  'CatchClause',
  'LogicalExpression',
]);

/** A decision: a condition, a loop, a `case`, a handler of errors, `&&`, `||` or `??`. */
const isBranch = ({ type, test }: Node): boolean =>
  branchTypes.has(type) || (type === 'SwitchCase' && test !== null);

const isFunction = ({ type }: Node): boolean =>
  type === 'FunctionDeclaration' || type === 'FunctionExpression' || type === 'ArrowFunctionExpression';

/**
 * The functions of a file that exceed a bound. A function inside another counts in the lines of both; its branches count where
 * they are, in the inner one.
 */
export function largeFunctions(file: string, text: string): LargeFunction[] {
  const found: LargeFunction[] = [];
  const visit = (value: unknown, count: () => void): void => {
    if (typeof value !== 'object' || value === null) return;
    if (Array.isArray(value)) {
      for (const item of value) visit(item, count);
      return;
    }
    const node = value as Node;
    if (isBranch(node)) count();
    if (!isFunction(node)) {
      for (const child of Object.values(node)) visit(child, count);
      return;
    }
    let branches = 0;
    const own = () => {
      branches += 1;
    };
    for (const child of Object.values(node)) visit(child, own);
    const source = text.slice(node.start, node.end);
    if (branches <= functionLimits.branches && source.split('\n').length <= functionLimits.lines) return;
    const lines = codeLines(file, `(${source})`);
    if (branches > functionLimits.branches || lines > functionLimits.lines)
      found.push({ place: `${file}:${text.slice(0, node.start).split('\n').length}`, lines, branches });
  };
  visit(parseSync(file, text).program, () => {});
  return found;
}

/** The functions of the product under `root` that exceed a bound. */
export function checkFunctions(root: string): LargeFunction[] {
  return sourceFiles(root)
    .filter((file) => !file.startsWith('test/'))
    .flatMap((file) => largeFunctions(file, readFileSync(path.join(root, file), 'utf8')));
}

if (import.meta.main) {
  const large = checkFunctions(path.resolve(import.meta.dirname, '../..'));
  for (const { place, lines, branches } of large)
    console.error(`${place}: a function of ${lines} lines with ${branches} branches`);
  if (large.length > 0) process.exitCode = 1;
}
