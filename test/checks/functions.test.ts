import { codeLines } from './count.ts';
import { functionLimits, largeFunctions } from './functions.ts';

const { lines, branches } = functionLimits;
const body = (statement: string, times: number) => `${statement}\n`.repeat(times);
const found = (text: string) => largeFunctions('a.ts', text);
test('a function with as many lines as allowed passes, one more does not', () => {
  const source = (more: number) =>
    `const a = 1;\nfunction f() {\n// why\n\n${body('a();', lines - 2 + more)}}`;
  expect(found(source(0))).toEqual([]);
  expect(found(source(1))).toEqual([{ place: 'a.ts:2', lines: lines + 1, branches: 0 }]);
});

test.each([
  'if (a) b();',
  'a ? b : c;',
  'for (const a of b) c();',
  'while (a) b();',
  'a && b;',
  'a ?? b;',
  'switch (a) { case 1: default: }',
  'try {} catch {}',
])('%s is a branch', (statement) => {
  expect(found(`const f = () => {${body(statement, branches)}};`)).toEqual([]);
  expect(found(`const f = () => {${body(statement, branches + 1)}};`)).toMatchObject([
    { branches: branches + 1 },
  ]);
});

test('the branches of an inner function count there', () => {
  const half = body('if (a) b();', branches);
  expect(found(`function f() { ${half} function g() { ${half} } }`)).toEqual([]);
});

test('lines of comments and empty lines are no code', () => {
  const text = `// one
/* two
   three */
const a = 1; // four

const b = \`
// part of a text
\`; /* five */ const c = 2;
`;
  expect(codeLines('a.ts', text)).toBe(4);
});
